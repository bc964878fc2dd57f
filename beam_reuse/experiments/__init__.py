"""The papers' experiments on any site: exact where they count, seeded where they draw lots."""
