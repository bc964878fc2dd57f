"""Crawl files made by code, one for each way to be broken."""
