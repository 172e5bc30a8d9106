"""What a judge is shown: its instructions, the case and the answer as fenced data."""
