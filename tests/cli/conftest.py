"""Fixtures of several tests here."""

from tests.cli.checking import labels, stdin

__all__ = ["labels", "stdin"]
