"""What becomes of every value of a source, and what must not be written down."""
