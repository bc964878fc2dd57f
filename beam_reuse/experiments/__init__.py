"""The papers' experiments on any site: exact where they count, seeded where they are random."""
