"""The sample crawl: a small web with known reuse in it, and the check that it is found."""
