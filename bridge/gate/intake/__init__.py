"""What the gate decides on: rows of runs and result files, as columns and as series of values."""
