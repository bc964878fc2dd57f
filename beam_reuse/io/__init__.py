"""Everything that touches a file."""
