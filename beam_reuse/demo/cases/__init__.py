"""The planted cases, a module each. A new one is added to CASES."""

from beam_reuse.demo.case import Case

CASES: tuple[Case, ...] = ()
