"""The verdict as one self-contained HTML page."""
