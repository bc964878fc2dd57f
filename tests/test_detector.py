"""The detector against the definitions of SPEC §3, written down once more, slowly."""

import hashlib
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse import Detector
from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelSettings, source_name
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.core.stop_chunks import builtin_chunk_hashes, builtin_file_hashes
from beam_reuse.io.labels.lists import settings_of
from tests.labels.writing import SETTINGS, listed, write_labels, write_result
from tests.oracles import chunks as chunk_oracle

PIECES = ["<p>one", "<p>two ", "<div>two\n", "<p>", "<div></div>", "<p>a longer chunk of text", "x",
          "\n\n", "<P>\n", "<p>é"]
PAGES = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
URLS = [None, "http://a.org/1", "http://a.org/2", "https://www.b.co.uk/", "http://c.com/", "none"]


def sha1(text: str | bytes) -> str:
    return hashlib.sha1(text.encode() if isinstance(text, str) else text).hexdigest()


def expected(
    page: bytes, kind: Kind, labels: list[tuple], settings: LabelSettings, stops: set[str],
    builtin: bool, threshold: float, min_chunks: int, min_matching: int, owner: str | None,
) -> dict[str, Any]:
    """What SPEC §3 says of a page, by loops over everything; `owner` is its domain."""
    def own(hash_: str, kind: str) -> bool:
        return owner in {source_name(url) for url in sources(hash_, kind) or () if url}

    def sources(hash_: str, kind: str) -> list[str | None] | None:
        found = [row[2] for row in labels if row[0] == hash_ and row[1] in (kind, "any", None)]
        return sorted(found, key=lambda url: (url is None, url or "")) if found else None

    no_chunks, no_files = set(stops), set(stops)
    if builtin:
        no_chunks |= {h.tobytes().hex() for h in builtin_chunk_hashes(settings.chunks)}
        no_files |= {h.tobytes().hex() for h in builtin_file_hashes()}
    everything = chunk_oracle.chunks(page, kind, settings.chunks)
    counted = [(i, row) for i, row in enumerate(everything)
               if row[3] >= settings.min_chunk_bytes and row[0] not in no_chunks]
    matches = [(i, row[1], row[2], row[0], found[0], len({*found} - {None}), own(row[0], "chunk"))
               for i, row in counted if (found := sources(row[0], "chunk"))]
    theirs = [match for match in matches if not match[-1]]
    domains: Counter[str] = Counter()
    for match in theirs:
        domains.update({source_name(url) for url in sources(match[3], "chunk") or () if url})
    file_sources = sources(sha1(page), "file") if sha1(page) not in no_files else None
    own_file = file_sources is not None and own(sha1(page), "file")
    share = (len(theirs) << 40) // len(counted) if counted else -1
    distinct = len({match[3] for match in theirs})
    return {
        "chunks": len(counted), "stop_chunks": len(everything) - len(counted),
        "matching": len(theirs), "own_matching": len(matches) - len(theirs),
        "distinct_matching": distinct,
        "contains": len(theirs) / len(counted) if counted else None,
        "file_match": file_sources is not None and not own_file, "own_file": own_file,
        "file_source": file_sources[0] if file_sources else None,
        "flagged": len(counted) >= min_chunks and distinct >= min_matching
        and share > int(threshold * 2 ** 40),
        "matches": matches,
        "sources": sorted(domains.items(), key=lambda item: (-item[1], item[0])),
    }


def said(detector: Detector, page: bytes | str, kind: Kind, url: str) -> dict[str, Any]:
    """The same from the detector."""
    answer = detector.check(page, url, kind).as_json()
    assert answer.pop("url") == url
    assert all(match.pop("score") is None for match in answer["matches"])
    answer["matches"] = [tuple(match.values()) for match in answer["matches"]]
    answer["sources"] = [tuple(source.values()) for source in answer["sources"]]
    return answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("detector")


# Pages, and whose they are.
ADDRESSES = {"http://page/": "page", "http://a.org/login": "a.org", "https://b.co.uk/": "b.co.uk",
             "http://other.co.uk/": "other.co.uk", "file://a.org/1": None, "": None, "none": None}
CHUNKS = st.sampled_from([ChunkSettings(), ChunkSettings(("p",)), ChunkSettings(normalise="none"),
                          ChunkSettings(normalise="text"), ChunkSettings.published()])


@given(
    pages=st.lists(st.tuples(PAGES, st.sampled_from([Kind.HTML, Kind.TEXT, Kind.CODE])),
                   min_size=1, max_size=4),
    originals=st.lists(PAGES, max_size=4), chunks=CHUNKS, least=st.sampled_from([0, 4, 9]),
    builtin=st.booleans(), stopped=st.lists(st.sampled_from(PIECES), max_size=2),
    threshold=st.sampled_from([0.0, 0.5, 1 / 3, 1.0]), min_chunks=st.sampled_from([1, 3]),
    dice=st.randoms(use_true_random=False), ending=st.sampled_from([".parquet", ".brl"]),
    stricter=st.sampled_from([0, 0, 8, 20]), min_matching=st.sampled_from([1, 1, 2]),
    url=st.sampled_from(list(ADDRESSES)), count_own=st.booleans(),
)
def test_values_are_those_of_the_definitions(
    folder: Path, pages: list[tuple[str, Kind]], originals: list[str], chunks: ChunkSettings,
    least: int, builtin: bool, stopped: list[str], threshold: float, min_chunks: int,
    dice: random.Random, ending: str, stricter: int, min_matching: int, url: str, count_own: bool,
) -> None:
    stricter = stricter if stricter > least else 0
    labels = [
        (row[0], dice.choice(["chunk", "chunk", "any", "file", None]), dice.choice(URLS))
        for original in [*originals, pages[0][0]]
        for row in chunk_oracle.chunks(original.encode(), Kind.HTML, chunks) if dice.random() < 0.7
    ]
    labels += [(sha1(page), "file", dice.choice(URLS)) for page, _ in pages[1:]]
    path = write_labels(folder / "labels.parquet", labels, {
        "format": 1, "chunk-tags": list(chunks.tags), "chunk-normalise": chunks.normalise,
        "classic": chunks.classic, "min-chunk-bytes": least})
    saved = str(folder / f"saved{ending}")
    Detector(path).save(saved)
    stops = {sha1(piece) for piece in stopped}
    (folder / "stops.txt").write_text("".join(f"{stop}\n" for stop in sorted(stops)))
    settings = StopSettings(stricter, (str(folder / "stops.txt"),), builtin)
    detector = Detector(saved, stops=settings, page_threshold=threshold, min_chunks=min_chunks,
                        min_matching=min_matching, count_own=count_own)
    assert detector.settings == LabelSettings(chunks, stricter or least)
    for page, kind in pages:
        assert said(detector, page, kind, url) == expected(
            page.encode(), kind, labels, detector.settings, stops, builtin, threshold, min_chunks,
            min_matching, None if count_own else ADDRESSES[url])


def labels_of(page: bytes, url: str) -> list[tuple]:
    chunks = chunk_oracle.chunks(page, Kind.HTML, ChunkSettings())
    return [(sha1(page), "file", url), *((row[0], "chunk", url) for row in chunks)]


ORIGINAL = b"<html><p>Welcome to the bank</p><p>Enter your password</p><p>&nbsp;</p>"
COPY = b"<html><title>x</title><p>Enter  your password</p> <div>now"


def test_text_is_decoded_as_a_run_decodes_it() -> None:
    """Labels of text know a page in any charset: by its header, its own head, or its bytes."""
    text = "<meta charset={}><p>Das Kennwort für Müllers Küche ändern</p>"
    detector = Detector((), chunks=ChunkSettings(normalise="text"))
    detector.learn(text.format("utf-8"), "http://bank.com/")
    for charset in ("iso-8859-1", "utf-8", "utf-16le"):
        page = text.format(charset).encode(charset)
        assert detector.check(page, charset=charset).matching == 1
        assert detector.check(page.decode(charset)).matching == 1
    assert detector.check(text.format("iso-8859-1").encode("latin-1")).matching == 1
    assert detector.check(text.format("utf-8").encode("latin-1"), charset="latin1").matching == 1
    assert detector.check(text.format("utf-8").encode("latin-1")).matching == 0
    assert detector.check("\ufeff" + text.format("utf-8")).matching == 1


def test_every_format_gives_the_same_answers(tmp_path: Path) -> None:
    rows = labels_of(ORIGINAL, "http://bank.com/")
    parquet = write_labels(tmp_path / "l.parquet", rows)
    result = write_result(tmp_path / "result", rows, SETTINGS)
    compact = str(tmp_path / "l.brl")
    assert Detector(parquet).save(compact) == len(rows)
    answers = [Detector(path).check(COPY, "HTTP://Phish.example:80") for path in
               (parquet, result, compact, Path(compact), [parquet, compact])]
    assert len(set(answers)) == 1
    found = answers[0]
    assert (found.url, found.chunks, found.matching, found.contains, found.flagged) == (
        "http://phish.example/", 3, 1, 1 / 3, True)
    assert [(match.position, match.start, match.end, match.source_url)
            for match in found.matches] == [(1, 22, 50, "http://bank.com/")]
    assert [(source.name, source.matching) for source in found.sources] == [("bank.com", 1)]
    text = tmp_path / "l.txt"
    text.write_text("\n".join(row[0] for row in rows))
    bare = Detector(text).check(COPY)
    assert (bare.matching, bare.matches[0].source_url, bare.sources) == (1, None, ())
    assert Detector(text).check(ORIGINAL).file_match


def test_pages_that_hold_nothing(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "l.parquet", [(sha1(b""), "any", None)])
    empty = Detector(path).check(b"")
    assert (empty.chunks, empty.stop_chunks, empty.contains, empty.file_match, empty.flagged) == (
        0, 1, None, False, False)
    bare = Detector(path, stops=StopSettings(builtin=False)).check("")
    assert (bare.chunks, bare.contains, bare.file_match, bare.flagged) == (1, 1.0, True, True)
    other = Detector(path).check(b"\x89PNG", kind="other")
    assert (other.chunks, other.contains, other.flagged, other.matches) == (0, None, False, ())


def test_labels_decide_how_pages_are_cut(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "l.parquet", [(sha1("<p>a"), "chunk", None)],
                        {**SETTINGS, "chunk-tags": ["p"], "min-chunk-bytes": 25})
    turned = ChunkSettings(("p",))
    assert Detector(path, chunks=turned, stops=StopSettings(25)).settings == LabelSettings(
        turned, 25)
    for wrong in ({"chunks": ChunkSettings()}, {"stops": StopSettings(24)},
                  {"chunks": ChunkSettings.published()}):
        with pytest.raises(UserError, match=r"were made with --chunk-tags p .* would not match"):
            Detector(path, **wrong)
    plain = write_labels(tmp_path / "p.parquet", [(sha1("<p>\n"), "chunk", None)], None)
    assert Detector(plain, chunks=ChunkSettings.published()).check("<p>x<p>\n").matching == 1


def test_a_stricter_detector_leaves_the_settings_of_its_list_alone(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "l.parquet", labels_of(ORIGINAL, "http://bank.com/"))
    detector = Detector(path, stops=StopSettings(10))
    assert (Detector(path).check(ORIGINAL).matching, detector.check(ORIGINAL).matching) == (3, 2)
    detector.learn(b"<p>" + b"another page of the bank " * 3, "http://bank.com/2")
    detector.save(tmp_path / "l.brl")
    assert Detector(tmp_path / "l.brl").settings.min_chunk_bytes == 0


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "l.parquet", [(sha1("a"), "chunk", None)])
    with pytest.raises(UserError, match="no such file"):
        Detector(tmp_path / "absent.brl")
    with pytest.raises(UserError, match="page_threshold"):
        Detector(path, page_threshold=1.5)
    with pytest.raises(UserError, match="min_chunks"):
        Detector(path, min_chunks=0)
    with pytest.raises(UserError, match="kind 'pdf' is not known"):
        Detector(path).check(b"", kind="pdf")
    with pytest.raises(UserError, match="is no URL"):
        Detector(path).learn(b"", "bank")
    with pytest.raises(UserError, match=r"ends in \.parquet .* or \.brl"):
        Detector(path).save(tmp_path / "l.csv")


@pytest.mark.parametrize("ending", [".brl", ".parquet"])
def test_it_learns_trusted_pages(ending: str, tmp_path: Path) -> None:
    detector = Detector([])
    assert not detector.check(COPY).flagged
    learned = detector.learn(ORIGINAL, "HTTP://Bank.com")
    assert (learned.url, learned.file, learned.chunks, learned.known) == (
        "http://bank.com/", True, 3, 0)
    found = detector.check(COPY)
    assert (found.matching, found.matches[0].source_url) == (1, "http://bank.com/")
    assert detector.check(ORIGINAL).file_source == "http://bank.com/"
    again = detector.learn(ORIGINAL, "http://phish.example/")
    assert (again.file, again.chunks, again.known) == (False, 0, 3)
    more = detector.learn(COPY, "http://other.org/")
    assert (more.file, more.chunks, more.known) == (True, 2, 1)
    path = tmp_path / f"saved{ending}"
    assert detector.save(path) == 7
    again_open = Detector(path)
    for page in (ORIGINAL, COPY, b"<p>else"):
        assert again_open.check(page) == detector.check(page)
    assert settings_of(str(path)) == LabelSettings(ChunkSettings(), 0)
    again_open.learn(b"<p>new", "http://new.org/")
    assert again_open.save(path) == 9
    assert {row[2] for row in listed(path)} == {
        "http://bank.com/", "http://other.org/", "http://new.org/"}


def test_a_page_owns_what_is_of_its_registered_domain(tmp_path: Path) -> None:
    """Learned or listed: two users of one provider are two, two hosts of one owner are not."""
    learned = Detector([])
    learned.learn(ORIGINAL, "https://bank.github.io/login")
    learned.save(tmp_path / "bank.brl")
    for detector in (learned, Detector(tmp_path / "bank.brl")):
        own = detector.check(ORIGINAL, "http://www.bank.github.io/")
        assert (own.matching, own.own_matching, own.flagged) == (0, 3, False)
        assert (own.file_match, own.own_file, own.sources) == (False, True, ())
        assert {match.own for match in own.matches} == {True}
        for url in ("https://thief.github.io/login", "https://github.io/", "", "file://bank/"):
            copy = detector.check(ORIGINAL, url)
            assert (copy.matching, copy.own_matching, copy.flagged) == (3, 0, True)
            assert (copy.file_match, copy.own_file) == (True, False)


def test_a_saved_table_keeps_what_lists_tell(tmp_path: Path) -> None:
    rows = [(sha1("<p>a"), "chunk", "http://a.org/", 4, "<p>a"), (sha1("f"), "file", None, 1, None)]
    path = write_labels(tmp_path / "l.parquet", rows)
    detector = Detector(path, stops=StopSettings())
    detector.learn("<p>b  é", "http://b.org/")
    detector.save(tmp_path / "s.parquet")
    saved = pq.read_table(tmp_path / "s.parquet").to_pylist()
    assert [row.pop("domains") for row in saved] == [None, None, 1, 1]
    assert [tuple(row.values())[:5] for row in saved] == [
        *rows, (sha1("<p>b  é"), "file", "http://b.org/", 8, None),
        (sha1("<p>b é"), "chunk", "http://b.org/", 7, "<p>b é")]


def test_nothing_learned_nothing_claimed(tmp_path: Path) -> None:
    text = tmp_path / "l.txt"
    text.write_text(sha1("a"))
    detector = Detector(text)
    detector.save(tmp_path / "l.brl")
    assert settings_of(str(tmp_path / "l.brl")) is None
    assert listed(tmp_path / "l.brl") == listed(text)


def test_no_beam_is_imported_and_no_arrow_for_compact_lists(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "l.parquet", labels_of(ORIGINAL, "http://bank.com/"))
    Detector(path).save(tmp_path / "l.brl")
    code = f"""
import sys
from beam_reuse import Detector
assert Detector({str(tmp_path / 'l.brl')!r}).check({COPY!r}, "http://a/").flagged
assert "pyarrow" not in sys.modules
detector = Detector({path!r})
assert detector.check({COPY!r}).flagged
detector.learn(b"<p>x", "http://b/")
detector.save({str(tmp_path / 'm.brl')!r})
assert "apache_beam" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_example_in_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Detector(write_labels(tmp_path / "l.parquet", labels_of(ORIGINAL, "http://bank.com/"))).save(
        "bank.brl")
    text = (Path(__file__).parents[1] / "docs" / "label-format.md").read_text()
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    names: dict[str, Any] = {"page": COPY, "trusted_page": b"<p>something else"}
    exec(code, names)
    assert names["finding"].flagged
    assert len(listed("bank.brl")) == len(labels_of(ORIGINAL, "")) + 2
