"""Samples are small, spread over all of the input, and have nothing twice."""

import gzip
import random
from itertools import pairwise
from pathlib import Path

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.core.pages import RawPage
from beam_reuse.core.settings import ReadSettings
from beam_reuse.estimates import sampling
from beam_reuse.estimates.sampling import Halves, draw
from beam_reuse.io.crawl.read import read_range
from tests.crawls import random_captures, write_warc


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "LEAST_PIECE", 500)
    monkeypatch.setattr(sampling, "LEAST_SAMPLE", 2000)


def places(sample: Halves) -> list[tuple[str, int, int]]:
    """Every stretch of a file that is read."""
    return sorted((file.path, each.start if each.is_part else 0,
                   each.end if each.is_part or len(each.files) == 1 else file.size)
                  for half in sample.halves for each in half.ranges for file in each.files)


def pages(sample: Halves) -> list[tuple[str, int]]:
    return [(found.file, found.offset) for half in sample.halves for each in half.ranges
            for found in read_range(each, ReadSettings()) if isinstance(found, RawPage)]


@pytest.mark.parametrize("most", [1 << 40, 6000, 3000])
def test_pieces_of_a_crawl_are_spread_and_read_once(tmp_path: Path, most: int) -> None:
    for number in range(3):
        write_warc(tmp_path / f"{number}.warc.gz", random_captures(number, 300))
    total = sum(path.stat().st_size for path in tmp_path.iterdir())
    sample = draw([str(tmp_path)], most)
    assert sample.total == total
    found = places(sample)
    assert {path for path, _, _ in found} == {str(path) for path in tmp_path.iterdir()}
    assert sum(end - start for _, start, end in found) <= min(most, max(2000, total // 100)) + 500
    for one, other in pairwise(found):
        assert one[0] != other[0] or one[2] <= other[1]
    read = pages(sample)
    assert read and len(set(read)) == len(read)


def test_small_files_are_taken_together_and_small_input_whole(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"{number:02}.html").write_text(f"<p>page {number}</p>" * 2)
    sample = draw([str(tmp_path)], 1 << 40)
    assert len(pages(sample)) > 55
    assert all(half.ranges for half in sample.halves)


def test_of_files_that_cannot_be_read_from_the_middle_the_beginning_is_taken(
    tmp_path: Path,
) -> None:
    rng = random.Random(3)
    lines = b"".join(b'{"url": "http://a.example/%d", "text": "%x"}\n' % (n, rng.getrandbits(400))
                     for n in range(2000))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "b.jsonl").write_bytes(lines)
    sample = draw([str(tmp_path)], 1 << 40)
    by_name = {name: [each for each in places(sample) if each[0].endswith(name)]
               for name in ("a.jsonl.gz", "b.jsonl")}
    assert len(by_name["a.jsonl.gz"]) == 1 and by_name["a.jsonl.gz"][0][1] == 0
    assert len(by_name["b.jsonl"]) > 1
    assert 10 < len(pages(sample)) < 400


def test_nothing_to_sample_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.warc").touch()
    with pytest.raises(UserError, match="nothing to take a sample of"):
        draw([str(tmp_path)], 1 << 20)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(UserError, match="is an index"):
        draw([str(tmp_path)], 1 << 20)
