"""Tests of label lists, stop lists and hash sets."""
