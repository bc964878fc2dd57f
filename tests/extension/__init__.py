"""The browser extension: its modules under Node, and whole in Chromium."""
