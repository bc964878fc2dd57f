"""The command `labels`, and runs that adopt what lists say."""

import csv
import itertools
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beam_reuse.cli.main import main
from beam_reuse.io.labels.lists import settings_of
from beam_reuse.io.results.tables import read_manifest
from tests.judging.results import fill_sheet

PAGE = "<html><body><p>" + "A paragraph that is long enough to be a label. " * 4 + "</p></body>"


@pytest.fixture
def originals(tmp_path: Path) -> Path:
    folder = tmp_path / "originals"
    folder.mkdir()
    (folder / "a.html").write_text(PAGE)
    return folder


def labels_of(path: Path) -> list[dict]:
    return pq.read_table(path).to_pylist()


def test_a_list_is_made_used_and_not_overwritten(
    originals: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    known = tmp_path / "known.parquet"
    assert main(["labels", str(originals), "-o", str(known)]) == 0
    assert "2 labels" in capsys.readouterr().out
    assert {row["kind"] for row in labels_of(known)} == {"file", "chunk"}
    assert not list(tmp_path.glob("*.work"))
    assert main(["labels", str(originals), "-o", str(known)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main(["labels", str(originals), "-o", str(originals)]) == 2
    assert "is a folder" in capsys.readouterr().err
    assert main(["labels", str(originals), "-o", str(known / "x.brl")]) == 2
    assert "known.parquet is a file, not a folder" in capsys.readouterr().err
    copies = tmp_path / "copies"
    copies.mkdir()
    (copies / "b.html").write_text(PAGE.replace("<html>", "<html lang=en>"))
    assert main(["run", str(copies), "-o", str(tmp_path / "out"), "--labels", str(known),
                 "--analyses", "detection"]) == 0
    [page] = pq.read_table(tmp_path / "out" / "page_reuse").to_pylist()
    assert (page["matching"], page["file_match"]) == (1, False)


def test_labels_of_text_find_copies_in_other_markup(
    originals: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    """`run` and `check` adopt how the list was cut; places are those in the page's text."""
    known = str(tmp_path / "known.brl")
    (originals / "b.txt").write_text("Plain words. " * 10 + "\n\nshort")
    assert main(["labels", str(originals), "-o", known, "--chunk-normalise", "text"]) == 0
    copies = tmp_path / "copies"
    copies.mkdir()
    text, plain = PAGE[15:-11].strip(), "Plain words. " * 9 + "Plain words."
    (copies / "c.html").write_text(
        f"<title>é</title><P CLASS=x onclick=y()>{text.replace('long', '<a href=z>long</a>')}"
        f"<script>t()</script></P>\n<div>{plain}</div>")
    out = tmp_path / "out"
    run = ["run", str(copies), "-o", str(out), "--labels", known, "--analyses", "detection"]
    assert main([*run, "--chunk-normalise", "whitespace"]) == 2
    assert "--chunk-normalise: the labels" in capsys.readouterr().err
    assert main(run) == 0
    matches = pq.read_table(out / "matched_chunks").to_pylist()
    end = 3 + len(text)
    assert [(row["position"], row["start"], row["end"]) for row in matches] == [
        (1, 3, end), (2, end + 1, end + 1 + len(plain))]
    assert read_manifest(str(out)).settings["chunk-normalise"] == "text"
    capsys.readouterr()
    assert main(["check", "--labels", known, str(copies / "c.html"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [(m["position"], m["start"], m["end"]) for m in answer["matches"]] == [
        (row["position"], row["start"], row["end"]) for row in matches]
    table = tmp_path / "known.parquet"
    assert main(["labels", str(originals), "-o", str(table), "--chunk-normalise", "text"]) == 0
    texts = {row["text"] for row in labels_of(table) if row["kind"] == "chunk"}
    assert texts == {text, plain}


def test_what_lists_say_is_adopted_and_contradictions_are_refused(
    originals: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    known = str(tmp_path / "known.parquet")
    assert main(["labels", str(originals), "-o", known, "--chunk-tags", "p",
                 "--min-chunk-bytes", "30"]) == 0
    made_with = settings_of(known)
    assert made_with is not None
    assert (made_with.chunks.tags, made_with.min_chunk_bytes) == (("p",), 30)
    run = ["run", str(originals), "-o", str(tmp_path / "out"), "--labels", known]
    assert main([*run, "--chunk-tags", "p,div"]) == 2
    assert "--chunk-tags" in capsys.readouterr().err
    assert main([*run, "--min-chunk-bytes", "0"]) == 2
    assert main([*run, "--classic"]) == 2
    assert main([*run, "--matcher", "nilsimsa"]) == 2
    assert "no Nilsimsa digests" in capsys.readouterr().err
    assert main(["labels", str(originals), "-o", str(tmp_path / "m.brl"), "--merge", known,
                 "--chunk-tags", "p", "--min-chunk-bytes", "40"]) == 2
    assert main([*run, "--min-chunk-bytes", "20"]) == 2
    assert "give a larger number" in capsys.readouterr().err
    assert main([*run, "--min-chunk-bytes", "150", "--analyses", "detection"]) == 0
    [page] = pq.read_table(tmp_path / "out" / "page_reuse").to_pylist()
    assert (page["chunks"], page["stop_chunks"], page["matching"]) == (1, 1, 1)
    assert main([*run, "--min-chunk-bytes", "10000", "--overwrite"]) == 0
    [page] = pq.read_table(tmp_path / "out" / "page_reuse").to_pylist()
    assert (page["chunks"], page["stop_chunks"], page["matching"]) == (0, 2, 0)
    capsys.readouterr()
    assert main([*run, "--overwrite", "--chunk-tags", "p", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "chunk-tags: p\n" in shown and "min-chunk-bytes: 30\n" in shown
    other = str(tmp_path / "other.parquet")
    assert main(["labels", str(originals), "-o", other]) == 0
    assert main(["labels", "--merge", known, other, "-o", str(tmp_path / "both.parquet")]) == 2
    assert "same settings" in capsys.readouterr().err


def test_what_copies_of_a_page_silence_is_reported(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Copies in the background, or among the originals, take a page's passages for common."""
    said = {name: f"<p>{name}, as it is said on this page and on nobody else's {'word ' * 20}"
            for name in ("login", "reset", "other")}

    def crawl(name: str, pages: dict[str, str]) -> str:
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps({"url": url, "html": html}) + "\n"
                                for url, html in pages.items()))
        return str(path)

    bank = {f"http://bank.example/{name}": said[name] for name in ("login", "reset")}
    others = crawl("others", {f"http://{n}.example/": said["other"] for n in range(6)})
    copies = crawl("copies", {f"http://p{n}.example/": said["login"] for n in range(5)})
    originals = crawl("bank", bank)
    phished = crawl("phished", {**bank, "http://phish.example/": said["reset"]})

    def told(*given: str) -> str:
        assert main(["labels", *given, "-o", str(tmp_path / "l.parquet"), "--overwrite"]) == 0
        return " ".join(capsys.readouterr().out.split())

    assert "left out" not in told(originals)
    fine = told(originals, "--background", others)
    assert "left out: no chunk on more than 3 hosts of other domains in the background" in fine
    assert "of the originals" not in fine
    silenced = told(originals, "--background", copies)
    assert "left out: 1 chunk on more than 3 hosts of other domains in the background" in silenced
    assert ("1 page of the originals has no chunk left, so that no copy of it is found by this "
            "list: http://bank.example/login (1 chunk: 1 in the background, as on p4.example) If "
            "those are copies") in silenced
    mixed = told(phished)
    assert "left out: 1 chunk on several registered domains" in mixed
    assert ("2 pages of the originals have no chunk left, so that no copy of them is found by this "
            "list: http://bank.example/reset (1 chunk: 1 on several domains of the originals) "
            "http://phish.example/ (1") in mixed
    assert "of the originals" not in told(phished, "--all-chunks")


def test_digests_are_made_when_asked_for(originals: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.parquet"
    assert main(["labels", str(originals), "-o", str(known), "--matcher", "nilsimsa"]) == 0
    digests = {row["kind"]: row["nilsimsa"] for row in labels_of(known)}
    assert digests["file"] is None
    assert len(digests["chunk"]) == 64
    copies = tmp_path / "copies"
    copies.mkdir()
    (copies / "b.html").write_text(PAGE.replace("A paragraph that is long", "Some words, long", 1))
    out = tmp_path / "out"
    assert main(["run", str(copies), "-o", str(out), "--labels", str(known), "--analyses",
                 "detection", "--matcher", "nilsimsa", "--nilsimsa-threshold", "100,128"]) == 0
    [match] = pq.read_table(out / "matched_chunks").to_pylist()
    assert 100 <= match["score"] < 128
    sweep = pq.read_table(out / "nilsimsa_sweep").to_pylist()
    assert [(row["threshold"], row["matching"]) for row in sweep] == [(100, 1), (128, 0)]


def test_a_result_is_a_list_too(originals: Path, tmp_path: Path) -> None:
    found, again = str(tmp_path / "found"), str(tmp_path / "again")
    assert main(["run", str(originals), "-o", found, "--chunk-threshold", "0"]) == 0
    assert main(["run", str(originals), "-o", again, "--labels", found,
                 "--analyses", "detection"]) == 0
    [page] = pq.read_table(f"{again}/page_reuse").to_pylist()
    assert page["contains"] == 1.0


def test_what_would_silently_do_nothing_is_refused(
    originals: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    known, judged = str(tmp_path / "known.parquet"), tmp_path / "judged.csv"
    assert main(["labels", str(originals), "-o", known]) == 0
    judged.write_text(f"sha1,label\n{'0' * 40},\n")
    run = ["run", str(originals), "-o", str(tmp_path / "out")]
    for argv, told in [
        ([*run, "--stop-chunks", str(judged)], "no row has a label yet, so none is benign"),
        ([*run, "--labels", str(originals / "a.html")], "no hash"),
        ([*run, "--labels", known, "--analyses", "discovery"], "--analyses discovery,detection"),
        ([*run, "--nilsimsa-threshold", "90"], "together with --matcher nilsimsa"),
        (["labels", str(originals), "-o", str(tmp_path / "l.txt")], ".parquet (a table) or .brl"),
        (["labels", str(originals), "-o", str(tmp_path / "l.brl"), "--matcher", "nilsimsa"],
         "holds no Nilsimsa digests"),
    ]:
        assert main(argv) == 2
        assert told in capsys.readouterr().err
    detected = str(tmp_path / "detected")
    assert main([*run[:2], "-o", detected, "--labels", known, "--analyses", "detection"]) == 0
    assert main([*run, "--labels", detected]) == 2
    assert "only runs with discovery write one" in capsys.readouterr().err


def test_a_judged_sample_of_chunks_lists_stop_chunks(
    originals: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    found, sheet, again = str(tmp_path / "found"), tmp_path / "chunks.csv", str(tmp_path / "again")
    (originals / "a.html").write_text("<p>menu</p><p>cheap pills</p><p>imprint</p>")
    run = ["run", str(originals), "--chunk-threshold", "0", "--analyses", "discovery"]
    assert main([*run, "-o", found]) == 0
    assert main(["sample", found, "--of", "frequent_chunks", "-o", str(sheet)]) == 0
    words = itertools.cycle([("benign", "menu"), ("spam", ""), ("", "")])
    fill_sheet(sheet, lambda _: next(words))
    with sheet.open(newline="") as source:
        rows = list(csv.DictReader(source))
    benign = {row["sha1"] for row in rows if row["label"] == "benign"}
    capsys.readouterr()
    assert main([*run, "-o", again, "--stop-chunks", str(sheet)]) == 0
    assert "1 rows judged benign are taken (1 judged otherwise, 1 without label not taken)" in (
        capsys.readouterr().err)
    before, after = ({row["sha1"] for row in pq.read_table(
        f"{result}/frequent_chunks").to_pylist()} for result in (found, again))
    assert len(benign) == 1 and after == before - benign


def test_the_manifest_tells_thresholds(originals: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert main(["run", str(originals), "-o", out, "--chunk-threshold", "0",
                 "--page-threshold", "0.25"]) == 0
    assert read_manifest(out).thresholds == {"page": 0.25, "neighbourhood": 1.0}


def test_plain_lists_stay_plain(originals: Path, tmp_path: Path) -> None:
    """Nothing is known of how their hashes were made, so nothing is said of it."""
    plain = tmp_path / "plain.txt"
    plain.write_text("ab" * 20 + "\n")
    for name in ("merged.parquet", "merged.brl"):
        assert main(["labels", "--merge", str(plain), "-o", str(tmp_path / name)]) == 0
        assert settings_of(str(tmp_path / name)) is None


def test_an_output_that_is_an_input_is_refused(
    originals: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    index = str(tmp_path / "index")
    assert main(["index", str(originals), "-o", index]) == 0
    assert main(["run", index, "-o", index, "--overwrite"]) == 2
    assert "is itself an input" in capsys.readouterr().err
    crawl = originals / "pages.parquet"
    pq.write_table(pa.table({"url": ["http://a.example/"], "html": [PAGE]}), crawl)
    assert main(["labels", str(crawl), "-o", str(crawl), "--overwrite"]) == 2
    assert pq.read_table(crawl).column_names == ["url", "html"]
