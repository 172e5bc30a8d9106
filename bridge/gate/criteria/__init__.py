"""What a metric, a case or a budget has to reach, and what must not regress."""
