"""The store of trust on first use: killed processes, several at once, files that are none."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.core.first_use import FirstUseSettings
from beam_reuse.io.trust_filter import TrustFilter
from beam_reuse.io.trust_store import TrustStore

SETTINGS = FirstUseSettings()
# Learns site after site, and reports each that is stored.
WRITER = """
import hashlib, sys
from beam_reuse.core.first_use import FirstUseSettings
from beam_reuse.io.trust_filter import TrustFilter
from beam_reuse.io.trust_store import TrustStore
store = TrustStore(sys.argv[1], FirstUseSettings(max_sites=int(sys.argv[4]), max_site_chunks=20))
for number in range(int(sys.argv[3])):
    name = f"{sys.argv[2]}{number}.example"
    hashes = [hashlib.sha1(f"{name} {at}".encode()).digest() for at in range(25)]
    with store.visit(may_learn=True):
        assert store.learn(name, f"https://{name}/", hashes, 20000 + number // 10) == 20
    print(name, flush=True)
"""


def writer(store: Path, name: str, count: int, most: int = 40) -> "subprocess.Popen[str]":
    """Learns so many sites, of which the store has `most` at most."""
    argv = [sys.executable, "-c", WRITER, str(store), name, str(count), str(most)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def require_whole(path: Path) -> list[str]:
    """The domains of a store in which everything fits together."""
    store = TrustStore(path, SETTINGS)
    sites = store.sites()
    assert all(site.chunks == 20 and len(site.pages) == 1 for site in sites)
    store.close()
    with sqlite3.connect(path) as base:
        assert base.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert base.execute("SELECT count(*) FROM chunks").fetchone() == (20 * len(sites),)
        assert base.execute("SELECT count(*) FROM pages").fetchone() == (len(sites),)
    base.close()
    return [site.domain for site in sites]


def test_a_process_that_is_killed_leaves_a_whole_store(tmp_path: Path) -> None:
    """Killed after more and more sites, at any moment of what follows: what was reported is there,
    and at most the one visit that was under way."""
    for stored in (1, 2, 5, 9, 14):
        path = tmp_path / f"store{stored}"
        process = writer(path, "s", 1000, most=1000)
        assert process.stdout is not None
        for _ in range(stored):
            process.stdout.readline()
        time.sleep(0.003 * stored)
        process.send_signal(signal.SIGKILL)
        reported = [f"s{number}.example" for number in range(stored)]
        reported += process.stdout.read().split()
        process.wait()
        process.stdout.close()
        found = require_whole(path)
        assert len(found) in (len(reported), len(reported) + 1) and {*reported} <= {*found}
        store = TrustStore(path, SETTINGS)
        with store.visit(may_learn=True):
            store.learn("next.example", "https://next.example/", [b"a" * 20], 20000)
        store.close()
    assert sorted(os.listdir(tmp_path)) == sorted(f"store{n}" for n in (1, 2, 5, 9, 14))


def test_a_transaction_that_was_cut_short_is_undone(tmp_path: Path) -> None:
    """The journal of a process that died in the middle of a write is played back."""
    path = tmp_path / "store"
    store = TrustStore(path, SETTINGS)
    with store.visit(may_learn=True):
        store.learn("a.example", "https://a.example/", [b"a" * 20], 20000)
    code = f"""
import os
import random
from beam_reuse.core.first_use import FirstUseSettings
from beam_reuse.io.trust_filter import TrustFilter
from beam_reuse.io.trust_store import TrustStore
store = TrustStore({str(path)!r}, FirstUseSettings())
store._base.execute("PRAGMA cache_size = 1")
store._base.execute("BEGIN IMMEDIATE")
for number in range(2000):
    store.learn(f"b{{number}}.example", "https://b.example/", [os.urandom(20)] * 1, 20000)
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    assert (tmp_path / "store-journal").stat().st_size > 0
    with store.visit(may_learn=False):
        assert [site.domain for site in store.sites()] == ["a.example"]
    assert os.listdir(tmp_path) == ["store"]
    store.close()


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "store"
    processes = [writer(path, name, 10) for name in "abcd"]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    for process in processes:
        assert process.stdout is not None
        process.stdout.close()
    assert require_whole(path) == sorted(
        f"{name}{number}.example" for name in "abcd" for number in range(10))


def test_threads_share_a_store(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "store", SETTINGS)

    def learn(name: str) -> None:
        for number in range(10):
            with store.visit(may_learn=True):
                store.learn(f"{name}{number}.example", "https://x/", [os.urandom(20)], 20000)

    threads = [threading.Thread(target=learn, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.sites()) == 40
    store.close()


def test_a_flood_does_not_make_the_file_grow(tmp_path: Path) -> None:
    """At most `max_sites` times `max_site_chunks` chunks, of some 80 bytes each."""
    path = tmp_path / "store"
    store = TrustStore(path, FirstUseSettings(max_sites=20, max_site_chunks=50))
    sizes = []
    for flood in range(4):
        with store.visit(may_learn=True):
            for number in range(100):
                name = f"{flood}-{number}.example"
                store.learn(name, f"https://{name}/", [os.urandom(20) for _ in range(60)], 20000)
        sizes.append(path.stat().st_size)
    assert len(store.sites()) == 20 and max(sizes) <= sizes[0] + 40_000 < 20 * 50 * 80 + 160_000
    store.close()


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    TrustStore(tmp_path / "store", SETTINGS).close()
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o600


def test_a_visit_that_learns_nothing_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store"
    store = TrustStore(path, SETTINGS)
    for _ in range(2):
        before = path.read_bytes()
        with store.visit(may_learn=True):
            store.learn("a.example", "https://a.example/", [b"a" * 20], 20000)
    assert path.read_bytes() == before
    store.close()


def test_files_that_are_no_store_are_refused_and_kept(tmp_path: Path) -> None:
    text, other, future = tmp_path / "text", tmp_path / "other", tmp_path / "future"
    text.write_text("This is a text, and a rather long one at that, not a database.\n" * 50)
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE mine (x)")
    base.close()
    TrustStore(future, SETTINGS).close()
    with sqlite3.connect(future) as base:
        base.execute("PRAGMA user_version = 7")
    base.close()
    for path, message in ((text, "no store"), (other, "no store"), (future, "version 7"),
                          (tmp_path / "no" / "folder", "No such file"), (tmp_path, "unable to")):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(UserError, match=message) as error:
            TrustStore(path, SETTINGS)
        assert str(path) in str(error.value)
        assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store"
    store = TrustStore(path, SETTINGS)
    with store.visit(may_learn=True):
        store.learn("a.example", "https://a.example/", [os.urandom(20) for _ in range(900)], 20000)
    store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + bytes(len(whole) - 4096))
    store = TrustStore(path, SETTINGS)
    with pytest.raises(UserError, match="damaged") as error, store.visit(may_learn=False):
        store.known([b"x" * 20], 20000)
    assert str(path) in str(error.value)
    store.close()


def test_what_is_stored_is_found_whatever_was_asked_before(tmp_path: Path) -> None:
    """Two open stores on one file, of which each learns and asks: each knows at once what the other
    has learnt, though both keep in memory which chunks there may be."""
    chance = random.Random(5)
    settings = FirstUseSettings(max_sites=5, max_site_chunks=6000)
    stores = [TrustStore(tmp_path / "store", settings) for _ in range(2)]
    hashes = [chance.randbytes(20) for _ in range(12000)]
    filtered = 0
    for turn in range(150):
        store = chance.choice(stores)
        with store.visit(may_learn=True):
            if chance.random() < .2:
                some = chance.sample(hashes, 3000 if turn % 10 == 0 else 30)
                domain = f"s{chance.randrange(8)}.example"
                store.learn(domain, f"http://{domain}/", some, 20000)
            asked = chance.sample(hashes, 700)
            stored = {sha1 for site in store.sites()
                      for sha1, _, _ in store.chunks(site.domain)}
            assert {sha1.hex() for sha1 in store.known(asked, 20000)} == stored & {
                sha1.hex() for sha1 in asked}
        filtered += store._filter is not None
    assert 10 < filtered < 150
    for store in stores:
        store.close()


def test_a_filter_passes_all_that_was_added_and_little_else() -> None:
    chance = random.Random(6)
    first, second, others = ([chance.randbytes(20) for _ in range(9000)] for _ in range(3))
    passes = TrustFilter(first)
    assert passes.passed([]) == []
    assert passes.passed(first) == first
    assert len(passes.passed(others)) < 90
    passes.add(second)
    assert passes.passed(first + second) == first + second
    assert len(passes.passed(others)) < 90
    assert not passes.full
    passes.add(others)
    assert passes.full
    assert TrustFilter([]).passed(first) == []
