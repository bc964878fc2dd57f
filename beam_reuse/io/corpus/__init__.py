"""A corpus as files: records of pages in several formats, in shards."""
