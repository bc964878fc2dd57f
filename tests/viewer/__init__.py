"""Tests of the viewer without a browser."""
