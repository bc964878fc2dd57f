"""Images that occur on several hosts: an analysis of another distribution than beam_reuse."""
