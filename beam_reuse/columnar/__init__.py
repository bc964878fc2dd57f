"""Blocks of rows with named columns: sorted, grouped, joined, counted, stored."""
