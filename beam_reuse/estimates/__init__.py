"""What a run will need, from a sample of its input."""
