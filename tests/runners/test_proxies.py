"""Where a proxy is set, processes of this machine reach each other all the same."""

import os
import subprocess
import urllib.request
from pathlib import Path

import pytest

from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl
from beam_reuse.runners.proxies import EXCEPTIONS, OF_GRPC, go_round_proxies
from beam_reuse.runners.rest import ask
from tests.engines.running import command, environment
from tests.runners.answering import answering

NOBODY = "http://127.0.0.1:9"
PROXIES = {name: NOBODY for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")}


@pytest.mark.parametrize(("given", "then"), [
    ({}, "localhost,127.0.0.1,::1"),
    ({"no_proxy": "a.org, localhost"}, "a.org,localhost,127.0.0.1,::1"),
    ({"NO_PROXY": "b.org"}, "b.org,localhost,127.0.0.1,::1"),
])
def test_own_addresses_are_excepted_beside_those_given(monkeypatch, given, then: str) -> None:
    for name in (*EXCEPTIONS, OF_GRPC):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    go_round_proxies()
    go_round_proxies()
    assert [os.environ[name] for name in EXCEPTIONS] == [then, then]
    assert OF_GRPC not in os.environ
    assert urllib.request.proxy_bypass_environment("localhost:80")


def test_an_exception_of_grpcs_own_gets_them_too(monkeypatch) -> None:
    for name in EXCEPTIONS:
        monkeypatch.setenv(name, "")
    monkeypatch.setenv(OF_GRPC, "c.org")
    go_round_proxies()
    assert os.environ[OF_GRPC] == "c.org,localhost,127.0.0.1,::1"


def test_a_cluster_is_asked_directly(monkeypatch) -> None:
    for name, value in PROXIES.items():
        monkeypatch.setenv(name, value)
    with answering({"/overview": {"slots": 2}}) as (address, _):
        assert ask(address, "overview") == {"slots": 2}


def test_a_local_run_with_two_workers_and_a_long_temporary_folder(tmp_path: Path) -> None:
    """Sockets lie elsewhere then: their names have 107 bytes."""
    crawl = write_crawl(sample_crawl(), str(tmp_path / "crawl"))
    temporary = tmp_path / "a folder whose name is long" / ("x" * 100)
    temporary.mkdir(parents=True)
    done = subprocess.run(
        command("run", *crawl, "-o", tmp_path / "out", "--workers", 2, "--analyses", "discovery"),
        env={**environment(), **PROXIES, "no_proxy": "", "NO_PROXY": "", "TMPDIR": str(temporary)},
        capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "manifest.json").exists()
