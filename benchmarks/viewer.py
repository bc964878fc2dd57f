"""The viewer on many rows: how long pages, sorts and filters take, its start and its memory.

    python benchmarks/viewer.py [RESULT]

Starts `beam-reuse view` as a process of its own and asks it by HTTP, as a browser does. Without a
result it makes one with ROWS near-duplicate pairs. Of a result that is given it measures the time
from the command to the first screen, cards and figures with it, then every list once. Memory is
the most that the process has held.
"""

import http.client
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.io.files import join, sha256_of
from beam_reuse.io.results.manifest import Accounting, Manifest, Part
from beam_reuse.io.results.run_folder import ResultFolder
from beam_reuse.io.results.tables import SCHEMAS

ROWS = 5_000_000
REPEATS = 5
TABLE = "near_duplicates"
LISTS = (("frequent_chunks", "hosts"), ("by_line", "hosts"), ("pages", "bytes"),
         ("near_duplicates", "c_similarity"), ("overlapping", "shared"), ("quilts", "sources"),
         ("by_family", "domains"), ("matched_chunks", "url"), ("page_reuse", "contains"))


def make_result(folder: Path, rows: int = ROWS) -> str:
    """A result with so many pairs of pages of 900 hosts, in the order of their URLs."""
    dice = np.random.default_rng(1)
    left = np.arange(rows) // 5
    right = left + 1 + np.arange(rows) % 5
    similar = dice.integers(355, 385, rows)
    table = pa.table([
        pa.array(map(_url, left.tolist())), pa.array(map(_url, right.tolist())),
        dice.integers(0, 7, rows), similar, left * 7919 % 900 == right * 7919 % 900 + 1,
        similar % 3 > 0, similar >= 372, similar >= 365, similar >= 360], SCHEMAS[TABLE].arrow())
    with ResultFolder(str(folder)) as result:
        path = f"{TABLE}/part-00000-of-00001.parquet"
        target = Path(join(result.work.tables, path))
        target.parent.mkdir(parents=True)
        pq.write_table(table, target, compression="zstd")
        part = Part(TABLE, path, rows, sha256_of(str(target)))
        result.publish(Manifest("result", {}, Accounting(0, 0), (part,)), {})
    return str(folder)


def _url(number: int) -> str:
    return (f"http://www.host-{number * 7919 % 900:03}.example/usr/share/doc/manual-{number % 97}/"
            f"section-{number % 1009}/page-{number:08}.html")


class Asked:
    """A viewer of a result that is asked by HTTP; ends with the context."""

    def __init__(self, result: str) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "beam_reuse", "view", result, "--no-browser"],
            stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        found = None
        while found is None:
            assert self._process.poll() is None, "the viewer has ended"
            found = re.search(r"127\.0\.0\.1:(\d+)/\?token=(\S+)", self._process.stdout.readline())
        self.port, token = int(found[1]), found[2]
        self._line = http.client.HTTPConnection("127.0.0.1", self.port)
        self._line.request("GET", f"/?token={token}")
        answer = self._line.getresponse()
        answer.read()
        self._cookie = (answer.getheader("Set-Cookie") or "").split(";")[0]

    def __enter__(self) -> "Asked":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def get(self, path: str) -> bytes:
        self._line.request("GET", path, headers={"Cookie": self._cookie})
        answer = self._line.getresponse()
        content = answer.read()
        assert answer.status == 200, content[:500]
        return content

    def ask(self, query: str, **given: Any) -> Any:
        return json.loads(self.get(f"/api/{query}?{urlencode(given, doseq=True)}"))

    def timed(self, query: str, **given: Any) -> tuple[float, Any]:
        start = time.perf_counter()
        answer = self.ask(query, **given)
        return time.perf_counter() - start, answer

    def memory(self) -> float:
        """The most megabytes that the process has held."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(next(re.finditer(r"VmHWM:\s+(\d+)", status))[1]) / 1024


def show(what: str, seconds: list[float], said: str = "") -> None:
    print(f"{what:60} {1000 * statistics.median(seconds):8.0f} ms median "
          f"{1000 * max(seconds):8.0f} most  {said}", flush=True)


def measure_rows(result: str) -> None:
    """Sorts, filters and far pages of the pairs."""
    with Asked(result) as viewer:
        print(f"first answer {viewer.timed('table', name=TABLE)[0]:.2f} s", flush=True)
        copied = viewer.timed("table", name=TABLE, sort="c_similarity")[0]
        print(f"the copy, and a sort {copied:.2f} s", flush=True)
        for column in SCHEMAS[TABLE].names:
            for down in ("true", "false"):
                asked = {"name": TABLE, "sort": column, "descending": down}
                found = [viewer.timed("table", **asked) for _ in range(REPEATS)]
                show(f"by {column}{' descending' if down == 'true' else ''}",
                     [each[0] for each in found])
            middle = viewer.ask("table", name=TABLE, after=json.dumps([None, ROWS // 2]), rows=1)
            # Rows are stored in the order of the first column: their places are its keys.
            value = None if column == SCHEMAS[TABLE].names[0] else middle["rows"][0][column]
            key = json.dumps([value, ROWS // 2])
            show(f"by {column}, far from the first", [viewer.timed(
                "table", name=TABLE, sort=column, after=key)[0] for _ in range(REPEATS)])
        for filters in (["c_similarity.min.380"], ["same_site.is.true"], ["url_a.has.page-00123"],
                        ["url_a.has.PAGE-00123"], ["url_b.has.nowhere"], ["url_a.has.host-123."],
                        ["url_a.starts.http://www.host-5"], ["url_a.has.-77/", "c.is.true"]):
            times = [viewer.timed("table", name=TABLE, filters=filters, sort="c_similarity",
                                  descending="true")[0] for _ in range(REPEATS)]
            count, many = viewer.timed("count", name=TABLE, filters=filters)
            show(" and ".join(filters), times, f"{many['rows']:,} rows, counted in "
                 f"{1000 * count:.0f} ms")
        show("histogram of similarities", [viewer.timed(
            "similarities", table=TABLE, column="c_similarity")[0] for _ in range(REPEATS)])
        print(f"memory {viewer.memory():.0f} MB")


def measure_start(result: str) -> None:
    """From the command to the first screen, then a look at every list."""
    with Asked(result) as viewer:
        for path in ("/", "/app.js"):
            viewer.get(path)
        viewer.ask("overview")
        print(f"first screen after {time.perf_counter() - viewer.started:.2f} s", flush=True)
        viewer.ask("findings")
        viewer.get("/figure/0.svg")
        print(f"cards and figures after {time.perf_counter() - viewer.started:.2f} s", flush=True)
        tables = viewer.ask("overview")["tables"]
        for name, sort in LISTS:
            if name in tables or name not in SCHEMAS:
                show(f"{name} by {sort}", [viewer.timed("table", name=name, sort=sort,
                                                        descending="true")[0] for _ in range(3)])
        print(f"memory {viewer.memory():.0f} MB")


def main() -> None:
    if sys.argv[1:]:
        for _ in range(REPEATS):
            measure_start(sys.argv[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        measure_rows(make_result(Path(folder) / "result"))


if __name__ == "__main__":
    main()
