"""What formats of cases have in common."""
