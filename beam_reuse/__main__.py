"""`python -m beam_reuse` is `beam-reuse`."""

from beam_reuse.cli.main import entry

if __name__ == "__main__":
    entry()
