"""Whole runs on real engines."""
