"""One verdict in several formats."""
