"""The list of tables says of each what its rows are."""

import re
from importlib import resources

from beam_reuse.declaring.registry import known

WRITTEN = re.compile(r'(?:^|[ {])([a-z_]+): "', re.MULTILINE)


def test_every_table_of_a_run_is_described() -> None:
    text = resources.files("beam_reuse.viewer").joinpath("static", "rows.js").read_text()
    named = set(WRITTEN.findall(text))
    tables = {schema.name for about in known().values() if about.command == "run"
              for schema in about.schemas()}
    assert len(tables) > 25 and tables <= named
