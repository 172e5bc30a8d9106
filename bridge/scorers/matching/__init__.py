"""Values held against patterns of values."""
