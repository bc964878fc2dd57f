"""Lists of labels against their definition: made, merged, edited, and kept distinctive."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from beam_reuse.cli import label_lists
from beam_reuse.cli.label_lists import MadeLabels, make_labels
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.declaring.settings import Settings
from beam_reuse.io import parts
from beam_reuse.io.labels.lists import settings_of
from beam_reuse.plan import RunPlan
from tests.crawls import random_captures, write_warc
from tests.oracles import crawl, reuse
from tests.oracles.crawl import Capture
from tests.oracles.labels import Key, distinctive, pages_without_labels

SETTINGS = Settings(stops=StopSettings(min_chunk_bytes=4))


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of several row groups, as large crawls have them."""
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 7)
    monkeypatch.setattr(parts, "READ_BYTES", 4000)  # some are read together


def labels_by_hand(captures: list[Capture], settings: Settings) -> dict[Key, tuple]:
    """(hash, kind, source) -> (bytes, text) of every file and chunk that counts."""
    pages, _ = crawl.accounting(captures, settings)
    found: dict[Key, tuple] = {}
    for kind, occurrences in reuse.occurrences(pages, settings).items():
        for o in occurrences:
            body = reuse.object_bytes(kind, o, pages, settings)
            text = body.decode()[:1000] if kind == "chunk" else None
            found[o.sha1, kind, o.page] = (len(body), text or None)
    return found


def make(output: Path, settings: Settings, inputs: list[Path], **plan: Any) -> MadeLabels:
    return make_labels(RunPlan("labels", tuple(map(str, inputs)), str(output), settings, **plan))


def rows(path: Path) -> dict[Key, tuple]:
    table = pq.read_table(path).to_pylist()
    keyed = {(r["sha1"], r["kind"], r["source_url"]): (r["domains"], r["bytes"], r["text"])
             for r in table}
    assert len(keyed) == len(table)
    return keyed


def counted(made: MadeLabels) -> tuple[int, int]:
    noted = made.accounting.noted
    return noted.get("chunks-on-several-domains", 0), noted.get("chunks-in-background", 0)


@pytest.mark.parametrize("normalise", ["whitespace", "text"])
def test_labels_are_made_merged_and_edited(normalise: str, tmp_path: Path) -> None:
    settings = Settings(chunks=ChunkSettings(normalise=normalise),
                        stops=StopSettings(min_chunk_bytes=8))
    files = [tmp_path / f"{n}.warc.gz" for n in range(2)]
    first, second = (write_warc(path, random_captures(50 + n, 70)) for n, path in enumerate(files))
    one, both = tmp_path / "one.parquet", tmp_path / "both.parquet"
    everything: dict[str, Any] = {"all_chunks": True}
    assert counted(make(one, settings, files[:1], **everything)) == (0, 0)
    assert {key: found[1:] for key, found in rows(one).items()} == labels_by_hand(first, settings)
    made_with = settings_of(str(one))
    assert made_with is not None and made_with.min_chunk_bytes == 8
    assert made_with.chunks == settings.chunks
    removed = sorted({sha1 for sha1, _, _ in rows(one)})[:10]
    (tmp_path / "remove.txt").write_text("\n".join(removed))
    edited = {"merge": (str(one),), "remove": (str(tmp_path / "remove.txt"),)}
    make(both, settings, files[1:], **edited, **everything)
    together = {key: found for key, found in (
        labels_by_hand(first, settings) | labels_by_hand(second, settings)).items()
        if key[0] not in removed}
    assert {key: found[1:] for key, found in rows(both).items()} == together
    kept, several, _ = distinctive(together, {}, settings, 3)
    assert several and any(key[1] == "chunk" for key in kept)
    assert counted(make(tmp_path / "kept.parquet", settings, files[1:], **edited)) == (several, 0)
    assert rows(tmp_path / "kept.parquet") == kept
    compact, again = tmp_path / "both.brl", tmp_path / "again.parquet"
    make(compact, settings, [], merge=(str(both),), **everything)
    make(again, settings, [], merge=(str(compact),), **everything)
    assert {key: found[0] for key, found in rows(again).items()} == {
        key: found[0] for key, found in rows(both).items()}
    assert settings_of(str(compact)) == settings_of(str(both))


@pytest.mark.parametrize(("seed", "limit", "workers"), [(5, 2, 1), (6, 0, 2), (17, 3, 1)])
def test_what_is_on_many_hosts_elsewhere_is_left_out(
        seed: int, limit: int, workers: int, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts of the originals' own domain do not count, however many they are. Pages of which
    nothing is left are named."""
    monkeypatch.setattr(label_lists, "PAGES_NAMED", 1000)
    crawls = [tmp_path / f"{n}.warc.gz" for n in range(3)]
    drawn = [c for c in random_captures(seed, 120) if reuse.host_of(c).endswith("a.example")]
    drawn += [c for c in random_captures(seed + 7, 30) if reuse.host_of(c) == "d.example"][:2]
    originals = write_warc(crawls[0], drawn)
    around = [c for n in (1, 2) for c in write_warc(crawls[n], random_captures(seed + 10 * n, 20))]
    background, _ = crawl.accounting(around, SETTINGS)
    every = labels_by_hand(originals, SETTINGS)
    expected, several, elsewhere = distinctive(every, background, SETTINGS, limit)
    made = make(tmp_path / "l.parquet", SETTINGS, crawls[:1],
                background=tuple(map(str, crawls[1:])), background_hosts=limit, workers=workers)
    assert rows(tmp_path / "l.parquet") == expected
    assert counted(made) == (several, elsewhere)
    assert several and elsewhere
    lost = pages_without_labels(every, expected)
    assert {row["url"]: row["chunks"] for row in made.named} == lost and made.lost == len(lost) > 0
    hosts = {reuse.host_of(capture) for capture in background.values()}
    for row in made.named:
        in_background = row["chunks"] - row["on_several_domains"]
        assert (row["background_host"] in hosts) if in_background else (
            row["background_host"] is None)


def test_folders_are_no_domains_and_lists_tell_of_more(tmp_path: Path) -> None:
    """What a folder and a domain share is of one; a list may know of more domains than it names;
    hashes without any source are on no known number."""
    page = "<p>" + "the same words in several places " * 5
    for name in ("2023", "2024"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.html").write_text(page)
    (tmp_path / "crawl.jsonl").write_text(
        '{"url": "http://www.bank.example/", "html": "' + page + '"}')
    folders = [tmp_path / "2023", tmp_path / "2024"]
    make(tmp_path / "folders.parquet", SETTINGS, folders)
    assert {(key[1], key[2], found[0]) for key, found in rows(tmp_path / "folders.parquet").items()
            } == {(kind, f"file://{name}/a.html", 1) for kind in ("file", "chunk")
                  for name in ("2023", "2024")}
    make(tmp_path / "all.parquet", SETTINGS, [*folders, tmp_path / "crawl.jsonl"])
    assert {found[0] for found in rows(tmp_path / "all.parquet").values()} == {1}
    [sha1] = {key[0] for key in rows(tmp_path / "all.parquet") if key[1] == "chunk"}
    told = tmp_path / "told.parquet"
    table = pq.read_table(tmp_path / "folders.parquet").slice(0, 1)
    at = table.column_names.index("domains")
    pq.write_table(table.set_column(at, "domains", [[7]]), told)
    (tmp_path / "bare.txt").write_text("ab" * 20)
    make(tmp_path / "merged.parquet", SETTINGS, [],
         merge=(str(told), str(tmp_path / "bare.txt"), str(tmp_path / "folders.parquet")))
    found = rows(tmp_path / "merged.parquet")
    of_told = table.column("sha1")[0].as_py(), table.column("kind")[0].as_py()
    for key, row in found.items():
        assert row[0] == (None if key[2] is None else 7 if key[:2] == of_told else 1)
    assert sha1 in {key[0] for key in found}
