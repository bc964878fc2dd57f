"""Small files that inflate to a gigabyte are read in little memory and time."""

import json
import subprocess
import sys
import zlib
from pathlib import Path

import brotli
import pytest
import zstandard

from tests.broken.writing import gz, gzip_frame, http, page, warc

LIMIT = 8 << 20
MEGABYTE = bytes(1 << 20)
COUNT = 1024
MOST_MEMORY = 96 << 20

READ = """
import json, sys, time
from pathlib import Path
from beam_reuse.core.settings import ReadSettings
from tests.crawl.reading import read_whole, shape

def memory(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
read_whole(folder / "harmless.warc.gz")
Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
before, found = memory("VmRSS"), {}
for path in sorted(folder.glob("bomb*")):
    start = time.process_time()
    outcomes = shape(read_whole(path, ReadSettings(max_record_bytes=limit)))
    found[path.name] = outcomes, time.process_time() - start
print(json.dumps([memory("VmHWM") - before, found]))
"""


def _zeros(prefix: bytes, suffix: bytes = b"") -> bytes:
    """A gzip member of `prefix`, a gigabyte of zeros and `suffix`, made without inflating."""
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = deflater.compress(prefix) + deflater.flush(zlib.Z_FULL_FLUSH)
    body += (deflater.compress(MEGABYTE) + deflater.flush(zlib.Z_FULL_FLUSH)) * COUNT
    body += deflater.compress(suffix) + deflater.flush()
    checksum = zlib.crc32(prefix)
    for _ in range(COUNT):
        checksum = zlib.crc32(MEGABYTE, checksum)
    framed = gzip_frame(body, b"")[:-8]
    length = len(prefix) + COUNT * len(MEGABYTE) + len(suffix)
    return framed + zlib.crc32(suffix, checksum).to_bytes(4, "little") + (
        length & 0xFFFFFFFF).to_bytes(4, "little")


def _zstd_zeros(prefix: bytes) -> bytes:
    compressor = zstandard.ZstdCompressor(level=3).compressobj()
    pieces = [compressor.compress(prefix)]
    pieces += [compressor.compress(MEGABYTE) for _ in range(COUNT // 4)]
    return b"".join(pieces) + compressor.flush()


def _brotli_zeros() -> bytes:
    compressor = brotli.Compressor(quality=1)
    pieces = [compressor.process(MEGABYTE) for _ in range(COUNT // 4)]
    return b"".join(pieces) + compressor.finish()


def _response(body: bytes, encoding: str) -> bytes:
    return gz(warc(http(body, "200 OK", "text/html", f"Content-Encoding: {encoding}")))


def _head(length: int) -> bytes:
    return warc(http(b""), length=length)[:-4]


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux shows it")
def test_bombs(tmp_path: Path) -> None:
    big = COUNT * len(MEGABYTE) + len(http(b""))
    row = b'{"url": "http://a.example/", "text": "'
    files = {
        "harmless.warc.gz": (gz(page(1)), []),
        "bomb-record.warc.gz": (_zeros(_head(big), b"\r\n\r\n") + gz(page(1)),
                                ["rejected:too-large", "page"]),
        "bomb-behind-record.warc.gz": (_zeros(page(1)) + gz(page(2)),
                                       ["page", "rejected:garbage", "page"]),
        "bomb-header.warc.gz": (_zeros(b"WARC/1.0\r\nX: y") + gz(page(2)),
                                ["rejected:header-too-large", "page"]),
        "bomb-gzip.warc.gz": (_response(_zeros(b""), "gzip"), ["rejected:too-large"]),
        "bomb-gzip-twice.warc.gz": (_response(gz(_zeros(b"")), "gzip, gzip"),
                                    ["rejected:too-large"]),
        "bomb-brotli.warc.gz": (_response(_brotli_zeros(), "br"), ["rejected:too-large"]),
        "bomb-zstd.warc.gz": (_response(_zstd_zeros(b""), "zstd"), ["rejected:too-large"]),
        "bomb-record.warc.zst": (_zstd_zeros(_head(10**12)) + zstandard.compress(page(1)),
                                 ["rejected:bad-length", "page"]),
        "bomb-line.jsonl.gz": (_zeros(row, b'"}\n' + row + b'"}'), ["rejected:too-large", "page"]),
        "bomb-page.html.gz": (_zeros(b"<p>"), ["rejected:too-large"]),
    }
    for name, (content, _) in files.items():
        assert len(content) < 3_000_000
        (tmp_path / name).write_bytes(content)
    done = subprocess.run([sys.executable, "-c", READ, str(tmp_path), str(LIMIT)], check=True,
                          capture_output=True, timeout=120, cwd=Path(__file__).parents[2])
    memory, found = json.loads(done.stdout)
    assert {name: outcomes for name, (outcomes, _) in found.items()} == {
        name: outcomes for name, (_, outcomes) in files.items() if outcomes}
    assert memory < MOST_MEMORY
    assert max(seconds for _, seconds in found.values()) < 20
