"""What an analysis says of itself, and who says so: options, settings, tables, counters.

No Beam, and nothing that takes long to import: `beam-reuse --help` reads all of it.
"""
