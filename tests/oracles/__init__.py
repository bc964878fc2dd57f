"""Slow, obvious twins: each says what a fast function must return."""
