"""The detector at the edge: one page in, what is known of it out. No Beam."""

from beam_reuse.detector.detector import Detector

__all__ = ["Detector"]
