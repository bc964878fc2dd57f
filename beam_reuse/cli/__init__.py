"""The program `beam-reuse`: parse, run, show progress, summarise."""
