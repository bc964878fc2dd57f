"""Input made to stop a run or to take for ever: small files, odd values, damaged footers."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beam_reuse.core.nesting import MAX_ROOTS, TooDeep, check_nesting
from beam_reuse.core.pages import Outcome, RawPage, Rejected
from beam_reuse.core.settings import ReadSettings
from beam_reuse.demo.warc import gzip_member, http_response, warc_record
from beam_reuse.io.crawl.inputs import list_files
from beam_reuse.io.crawl.ranges import cut
from beam_reuse.io.crawl.read import read_range

ANY = ReadSettings(statuses=None)


def outcomes(path: Path, settings: ReadSettings = ANY) -> list[Outcome]:
    return [o for piece in cut(list_files([str(path)])) for o in read_range(piece, settings)]


@pytest.mark.parametrize("extra", [
    {"ip": "\ud800"}, {"ip": 5}, {"status": 10**30}, {"status": 1e300}, {"status": -1},
    {"status": "2000"}, {"content_type": "\ud800"}, {"timestamp": "9" * 400},
])
def test_odd_values_of_a_row_are_no_values(tmp_path: Path, extra: dict) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"url": "http://a.example/", "html": "<p>x", **extra}) + "\n")
    page, = outcomes(path)
    assert isinstance(page, RawPage)
    assert page.ip == "" and page.status is None
    page.content_type.encode()


@pytest.mark.parametrize("field", ["likes", "timestamp", "status"])
def test_a_number_of_very_many_digits_is_no_value(tmp_path: Path, field: str) -> None:
    line = b'{"url": "http://a.example/", "html": "<p>x", "%s": -%s}\n'
    path = tmp_path / "a.jsonl"
    path.write_bytes(line % (field.encode(), b"9" * 5000))
    page, = outcomes(path)
    assert isinstance(page, RawPage)
    assert (page.payload, page.timestamp, page.status) == (b"<p>x", None, None)


def test_a_parquet_file_with_two_columns_of_one_name_is_a_reject(tmp_path: Path) -> None:
    table = pa.Table.from_arrays(
        [pa.array(["http://a.example/"]), pa.array(["http://b.example/"]), pa.array(["x"])],
        names=["url", "url", "text"])
    pq.write_table(table, tmp_path / "a.parquet")
    rejected, = outcomes(tmp_path / "a.parquet")
    assert isinstance(rejected, Rejected)


READ = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from tests.crawl.test_hostile import outcomes
content = bytearray(Path(sys.argv[1]).read_bytes())
target = Path(sys.argv[1]).with_name("flipped.parquet")
for bit in range(8 * (len(content) - 700), 8 * len(content), 3):
    content[bit // 8] ^= 1 << bit % 8
    target.write_bytes(content)
    assert outcomes(target)
    content[bit // 8] ^= 1 << bit % 8
"""


def test_no_flipped_bit_in_a_parquet_footer_ends_the_process(tmp_path: Path) -> None:
    rows = pa.table({"url": ["http://a.example/"], "text": ["x"]})
    pq.write_table(rows, tmp_path / "a.parquet")
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", READ, str(tmp_path / "a.parquet"), root],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_body_of_very_many_gzip_members_ends_soon(tmp_path: Path) -> None:
    body = gzip.compress(b"<p>x") + gzip.compress(b"") * 200_000
    response = http_response(body, "text/html", extra={"Content-Encoding": "gzip"})
    record = warc_record("response", response, "http://a.example/")
    (tmp_path / "a.warc.gz").write_bytes(gzip_member(record))
    page, = outcomes(tmp_path / "a.warc.gz")
    assert isinstance(page, RawPage) and page.payload == b"<p>x"


def test_records_that_all_claim_far_too_much_end_soon(tmp_path: Path) -> None:
    record = warc_record("response", b"x" * 3000, "http://a.example/")
    record = record.replace(b"Content-Length: 3000", b"Content-Length: 50000000")
    (tmp_path / "a.warc.gz").write_bytes(gzip_member(record * 20_000))
    found = outcomes(tmp_path / "a.warc.gz")
    assert found and all(isinstance(outcome, Rejected) for outcome in found)


def test_attributes_for_ever_on_one_body_are_refused() -> None:
    check_nesting(b"".join(b"<body a%d>" % i for i in range(MAX_ROOTS)))
    with pytest.raises(TooDeep, match="body"):
        check_nesting(b"".join(b"<BODY a%d>" % i for i in range(MAX_ROOTS + 1)))
