"""Result files of DeepEval: read, accounted for, and written."""
