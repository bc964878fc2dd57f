"""What the template's launcher runs: `python main.py --parameter=value ...`."""

from beam_reuse.cli.template import entry

if __name__ == "__main__":
    entry()
