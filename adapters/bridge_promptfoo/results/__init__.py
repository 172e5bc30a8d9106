"""Result files of promptfoo: read, accounted for, and written."""
