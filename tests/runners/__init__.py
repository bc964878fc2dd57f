"""Runners: what they need, fetch and start, without an engine."""
