"""Result files of RAGAS: read, accounted for, and written."""
