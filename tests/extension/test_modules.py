"""Modules of the extension say what the program says: hashes, tokens, domains, compact lists."""

import base64
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_reuse.core.urls import BadUrl, canonical_url, domain_of
from beam_reuse.io.labels.compact import CompactList
from beam_reuse.io.labels.lists import read_list
from beam_reuse.io.labels.writing import write_labels
from extension.build import HERE, build, suffixes
from tests.extension.node import ask
from tests.oracles.tokens import tokens

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cn"])), min_size=50, max_size=200)
LABEL = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_", min_size=1, max_size=8)


def rules() -> list[str]:
    """All rules of the public suffix list, in ASCII."""
    return suffixes().rpartition('"')[0].rpartition('"')[2].split("\\n")


@settings(max_examples=3, deadline=None)
@given(TEXTS)
def test_hashes_and_lengths(built: Path, texts: list[str]) -> None:
    texts = [*texts, "", "a" * 55, "a" * 56, "é" * 3000, "x" * 70000]
    assert ask(built, "sha1", texts) == [hashlib.sha1(text.encode()).hexdigest() for text in texts]


@settings(max_examples=3, deadline=None)
@given(TEXTS)
def test_tokens(built: Path, texts: list[str]) -> None:
    mixed = [*texts, *(" ".join(texts[at:at + 7]) for at in range(0, len(texts), 7)),
             "İstanbul'da ΟΔΟΣ", "漢字かな ไทย abc", "½ ² Ⅷ a_b"]
    assert ask(built, "tokens", mixed) == [
        [len(tokens(text)), len(text.encode()),
         len(tokens(text)) >= 5 and len(text.encode()) >= 25] for text in mixed]


def hosts() -> list[str]:
    """For every rule its own name, names below it, and names that only end alike."""
    found = []
    for rule in rules():
        name = rule.lstrip("!").removeprefix("*.")
        found += [name, f"a.{name}", f"b.a.{name}", f"c.b.a.{name}", f"x{name}"]
    return [*found, "localhost", "192.168.0.1", "1.2.3.4.5", "300.1.1.1", "[::1]", "example",
            "a.b.unknown-tld", "www.bank.example", "me.github.io", "github.io"]


def test_domains_of_all_suffixes(built: Path) -> None:
    all_of_them = hosts()
    assert len(all_of_them) > 40_000
    assert ask(built, "domain", all_of_them) == [domain_of(host) for host in all_of_them]


@settings(max_examples=3, deadline=None)
@given(st.lists(st.lists(LABEL, min_size=1, max_size=4), min_size=100, max_size=200),
       st.randoms(use_true_random=False))
def test_domains_of_any_hosts(built: Path, names: list[list[str]], chance: random.Random) -> None:
    known = rules()
    asked = [".".join([*labels, chance.choice(known).lstrip("!*.")]) for labels in names]
    asked += [".".join(labels) for labels in names]
    assert ask(built, "domain", asked) == [domain_of(host) for host in asked]


def test_addresses_of_pages(built: Path) -> None:
    addresses = ["https://User:pw@WWW.Bank.example:443/a/b?c=d#e", "http://bank.example.:8080",
                 "http://bücher.example/ä", "https://[2001:db8::1]/x", "http://192.168.0.1/?q"]
    asked = ask(built, "url", addresses)
    assert asked[0] == canonical_url(addresses[0]) and asked[3:] == addresses[3:]
    assert asked[1:3] == ["http://bank.example:8080/", "http://xn--bcher-kva.example/%C3%A4"]
    others = ["about:blank", "file:///etc", "data:text/html,x", "", "x"]
    assert ask(built, "url", others) == [""] * len(others)
    with pytest.raises(BadUrl):
        canonical_url("about:blank")


@pytest.mark.parametrize("count", [0, 1, 15, 16, 31, 32, 1000])
def test_compact_lists_are_read_and_written(built: Path, tmp_path: Path, count: int) -> None:
    path = tmp_path / "list.brl"
    write_list(path, count)
    content = base64.b64encode(path.read_bytes()).decode()
    (found,) = ask(built, "compact", [content])
    known = CompactList.open(str(path))
    assert [label["sha1"] for label in found["labels"]] == [
        row["sha1"].tobytes().hex() for row in known.rows]
    assert found["settings"]["min-chunk-tokens"] == 5
    assert base64.b64decode(found["written"]) == path.read_bytes()


def write_list(path: Path, count: int, normalise: str = "text") -> None:
    import numpy as np
    import pyarrow as pa

    from beam_reuse.core.labels import LabelSettings
    from beam_reuse.core.settings import ChunkSettings
    from beam_reuse.io.labels.batches import label_batch

    chance = random.Random(count)
    hashes = np.frombuffer(chance.randbytes(20 * count), "V20")
    batch = label_batch(
        hashes, np.array([chance.choice([0, 1, 2]) for _ in range(count)], np.uint8),
        source_url=pa.array([chance.choice([None, f"https://www.site{n % 7}.example/{n}"])
                             for n in range(count)], pa.string()),
        domains=pa.array([chance.choice([1, 2, 70]) for _ in range(count)], pa.int64()))
    made = LabelSettings(ChunkSettings(normalise=normalise), 25, 5)
    assert write_labels(str(path), [batch], made) == count
    assert sum(len(some) for some in read_list(str(path))) == count


CHANGES: list[dict[str, Any]] = [
    {"sites": None}, {"joined": [1]}, {"never": "x"}, {"sites": [None]},
    *({"sites": [{"domain": "a.example", "days": 1, "seen": 1, "chunks": [["ab" * 20, "x", 1]],
                  "first": [1], **change}]} for change in (
        {"domain": "www.a.example"}, {"days": "1"}, {"seen": 1e12}, {"chunks": {}}, {"first": []},
        {"first": [None]}, {"chunks": [None]}, {"chunks": [["x", "x", 1]]}))]


def changed_backup(change: dict[str, Any]) -> bytes:
    content = {"format": "beam_reuse extension 1", "sites": [], "joined": [], "never": []}
    return json.dumps({**content, **change}).encode()


def test_lists_that_are_refused(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.brl"
    write_list(path, 100)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    write_list(path, 100, "whitespace")
    files = [whole[:-64], bytes(flipped), path.read_bytes(), b"ab" * 20 + b"\nnot a hash\n",
             b"ab" * 20, b'{"format": "x"}', b'{"format": ', *map(changed_backup, CHANGES)]
    said = ask(built, "refusal", [base64.b64encode(file).decode() for file in files])
    parts = ["damaged", "damaged", "--config configs/phishing.yaml", "Line 2", "give a domain",
             "neither a list", "ends too early", *["was changed"] * len(CHANGES)]
    assert all(part in sentence for part, sentence in zip(parts, said, strict=True)), said


def test_an_index_finds_what_sites_have(built: Path) -> None:
    chance = random.Random(7)
    sites: dict[str, list[str]] = {}
    changes = []
    for _ in range(60):
        change = {f"site{chance.randrange(12)}": [
            chance.randbytes(20).hex() for _ in range(chance.randrange(40))]
            for _ in range(chance.randrange(1, 4))}
        changes.append(change)
        sites |= change
    asked = [sha1 for change in changes for hashes in change.values() for sha1 in hashes]
    (found,) = ask(built, "index", [{"changes": changes, "asked": asked}])
    assert found == [[site for site in sites if sha1 in sites[site]] for sha1 in asked]


def test_two_builds_have_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    build(first)
    build(second)
    build(second)
    for name in ("beam-reuse-chromium.zip", "beam-reuse-firefox.zip"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert (HERE / "package-lock.json").read_text().count("resolved") == 0
