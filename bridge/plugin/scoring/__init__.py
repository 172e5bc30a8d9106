"""What frameworks have in common: shared checks, native metrics, routes."""
