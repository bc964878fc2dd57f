"""Rows: the small language in which analyses are written, and the rounds that it becomes."""

from beam_reuse.rows.language import Plan, Rows, Value
from beam_reuse.rows.results import Count, Tagged

__all__ = ["Count", "Plan", "Rows", "Tagged", "Value"]
