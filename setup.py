"""What Beam runs to build the package it ships to remote workers (`--setup_file`).

All metadata is in pyproject.toml.
"""

from setuptools import setup

setup()
