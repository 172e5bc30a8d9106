"""Result files of Inspect AI: read, accounted for, and written."""
