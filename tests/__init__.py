"""Tests, in the layers of the package."""
