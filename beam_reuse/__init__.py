"""beam_reuse finds content reuse in web crawls, as one Apache Beam graph."""

__version__ = "0.1.0"
