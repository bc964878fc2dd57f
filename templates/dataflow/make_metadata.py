"""Writes metadata.json from the table of options: `python templates/dataflow/make_metadata.py`."""

import json
from pathlib import Path

from beam_reuse.cli.template import metadata

METADATA = Path(__file__).parent / "metadata.json"


def text() -> str:
    """The content of metadata.json."""
    return json.dumps(metadata(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    METADATA.write_text(text())
