"""What formats of results have in common."""
