"""An index with a flipped bit is refused, whatever the bit means, and one of another version."""

import json
import random
from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from tests.crawls import random_captures, write_warc


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    write_warc(folder / "a.warc.gz", random_captures(1, 40))
    return folder


@pytest.mark.parametrize("table", ["index", "events"])
def test_a_flipped_bit_is_noticed(
    table: str, crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    index = tmp_path / "index"
    assert main(["index", str(crawl / "a.warc.gz"), "-o", str(index)]) == 0
    part = next((index / table).iterdir())
    content = bytearray(part.read_bytes())
    content[random.Random(7).randrange(len(content) // 2)] ^= 4
    part.write_bytes(content)
    for command in ("run", "index"):
        assert main([command, str(index), "-o", str(tmp_path / "out")]) == 1
        told = capsys.readouterr().err
        assert part.name in told and "Index the crawl again" in told
        assert not (tmp_path / "out").exists()


def test_an_index_of_an_older_version_is_refused(
    crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    index = tmp_path / "index"
    assert main(["index", str(crawl / "a.warc.gz"), "-o", str(index)]) == 0
    manifest = index / "manifest.json"
    older = json.loads(manifest.read_text()) | {"schema_version": 7}
    manifest.write_text(json.dumps(older))
    assert main(["run", str(index), "-o", str(tmp_path / "out")]) == 2
    assert "schema version 7; this is version 8" in capsys.readouterr().err
