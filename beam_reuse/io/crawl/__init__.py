"""Crawl files of any format become pages, skipped and rejected records."""
