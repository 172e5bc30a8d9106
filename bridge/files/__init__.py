"""Files to model and back."""
