"""Tests of reading crawl files."""
