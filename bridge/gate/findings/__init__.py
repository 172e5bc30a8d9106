"""What to see beside the verdict: the worst cases, flakiness, slices, other systems."""
