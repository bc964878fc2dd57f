"""Tests of what things mean."""
