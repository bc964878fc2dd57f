"""Clients of remote storage are imported where a path may need them, and only there."""

import subprocess
import sys

import pytest

PREPARE = """
import sys
from beam_reuse.declaring.settings import Settings
from beam_reuse.plan import RunPlan
from beam_reuse.runners import prepare
prepare(RunPlan("run", (sys.argv[1],), sys.argv[2], Settings(), workers=1))
import apache_beam.io.filesystems
print("google.cloud.storage" in sys.modules)
"""


@pytest.mark.parametrize(("source", "target", "clients"), [
    ("crawl.warc.gz", "result", False),
    ("gs://bucket/crawl.warc.gz", "result", True),
    ("crawl.warc.gz", "gs://bucket/result", True),
])
def test_clients_only_where_a_path_may_need_them(source: str, target: str, clients: bool) -> None:
    pytest.importorskip("google.cloud.storage")
    said = subprocess.run([sys.executable, "-c", PREPARE, source, target], text=True, check=True,
                          stdout=subprocess.PIPE)
    assert said.stdout.split() == [str(clients)]
