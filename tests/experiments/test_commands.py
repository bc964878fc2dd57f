"""`beam-reuse experiment` from command line to published folder, against runs on copies that
are really made."""

import csv
import hashlib
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from beam_reuse.analyses.reuse.settings import DetectionSettings, DiscoverySettings
from beam_reuse.cli.main import main
from beam_reuse.cli.runs import execute
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results import tables
from beam_reuse.options.table import options_of
from beam_reuse.plan import RunPlan
from tests.experiments import sites
from tests.oracles.chunks import chunks

SITE, AROUND = sites.pages(1, "site.example"), sites.pages(2, "other.example", 20)


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The site and the background."""
    folder = tmp_path_factory.mktemp("crawls")
    return sites.write(folder, "site", SITE), sites.write(folder, "around", AROUND)


def run(inputs: list[str], output: Path, **settings: object) -> str:
    execute(RunPlan("run", tuple(inputs), str(output), Settings(**settings)), [])  # type: ignore
    return str(output)


def rows_of(output: Path, name: str) -> list[dict[str, str]]:
    """A table as CSV, which must say what the Parquet file says."""
    with (output / f"{name}.csv").open() as source:
        rows = list(csv.DictReader(source))
    parquet = tables.read(str(output), name).to_pylist()
    assert rows == [{k: "" if v is None else str(v) for k, v in row.items()} for row in parquet]
    return rows


def stopped() -> set[str]:
    """Hashes of the stop chunks in these crawls, by hand."""
    texts = (b"", b"<p>&nbsp;</p>", b"<div>", b"\xc2\xa0")
    return {hashlib.sha1(text).hexdigest() for text in texts}


def chunk_hashes(page: sites.Capture, settings: ChunkSettings | None = None) -> list[str]:
    found = [row[0] for row in chunks(page.body, page.kind, settings or ChunkSettings())]
    return [sha1 for sha1 in found if sha1 not in stopped()]


def discovered(output: str) -> dict[str, set[str]]:
    return {kind: set(tables.read(output, f"frequent_{kind}s")["sha1"].to_pylist())
            for kind in ("file", "chunk")}


@pytest.mark.parametrize(("partial", "threshold", "normalise"), [
    (False, None, "whitespace"), (True, 7, "whitespace"), (True, None, "text")])
def test_inject_finds_what_discovery_finds_among_copies(
    partial: bool, threshold: int | None, normalise: str, crawls: tuple[str, str], tmp_path: Path,
) -> None:
    site, around = crawls
    argv = ["experiment", "inject", site, "--background", around, "--copies", "2,6", "-o",
            str(tmp_path / "out"), "--chunk-normalise", normalise,
            *(["--partial"] if partial else [])]
    cut = ChunkSettings(normalise=normalise)
    if threshold:
        argv += ["--file-threshold", str(threshold), "--chunk-threshold", str(threshold)]
    assert main(argv) == 0
    mine = {
        "file": {page.sha1 for page in SITE if page.body},
        "chunk": {sha1 for page in SITE for sha1 in chunk_hashes(page, cut)},
    }
    for row in rows_of(tmp_path / "out", "inject"):
        d = int(row["copies"])
        copied = sites.write(tmp_path, f"copies{d}", sites.copies(SITE, d, partial, cut))
        found = discovered(run(
            [around, copied], tmp_path / f"run{d}", analyses=("discovery",), chunks=cut,
            discovery=DiscoverySettings(threshold, threshold)))
        for kind, hashes in mine.items():
            assert int(row[f"{kind}s"]) == len(found[kind] & hashes)
            assert int(row[f"distinct_{kind}s"]) == len(hashes)
            assert int(row[f"{kind}_threshold"]) == (threshold or 10)
        assert 0 < int(row["chunks"]) < len(mine["chunk"])


def threshold_of(page_values: list[tuple[int, int]]) -> int:
    """Mean plus deviation of shares by its definition: the greatest integer not above it."""
    shares = [matching * 2**40 // whole for matching, whole in page_values if whole]
    n, total = len(shares), sum(shares)
    spread = n * sum(share**2 for share in shares) - total**2
    low, high = 0, 2**41
    while high - low > 1:
        middle = (low + high) // 2
        above = n * middle - total
        low, high = (middle, high) if above <= 0 or above**2 <= spread else (low, middle)
    return low


def test_mutate_takes_thresholds_and_blind_labels_as_runs_have_them(
    crawls: tuple[str, str], tmp_path: Path,
) -> None:
    site, around = crawls
    assert main(["experiment", "mutate", site, "--background", around, "--blind-copies", "3",
                 "--chunk-threshold", "12", "--multiples", "0,1,2", "--runs", "3",
                 "-o", str(tmp_path / "out")]) == 0
    tolerances = rows_of(tmp_path / "out", "tolerances")
    assert {row["threshold_from"] for row in tolerances} == {"background"}
    copied = sites.write(tmp_path, "copies", sites.copies(SITE, 3, False, ChunkSettings()))
    both = run([around, copied], tmp_path / "both", analyses=("discovery",),
               discovery=DiscoverySettings(chunk_threshold=12))
    labels = {
        "expert": {sha1 for page in SITE for sha1 in chunk_hashes(page)},
        "blind": discovered(both)["chunk"],
    }
    assert labels["blind"] - labels["expert"], "the background has frequent chunks of its own"
    points = {
        (row["way"], row["labels"], int(row["mutations"])): row
        for row in rows_of(tmp_path / "out", "mutate")
    }
    vectors = [found for found in map(chunk_hashes, SITE) if found]
    for name, hashes in labels.items():
        (tmp_path / name).write_text("\n".join(sorted(hashes)))
        detected = run([around], tmp_path / f"detected {name}", analyses=("detection",),
                       detection=DetectionSettings(labels=(str(tmp_path / name),)))
        for level, table in (("page", "page_reuse"), ("neighbourhood", "neighbourhoods")):
            found = tables.read(detected, table)
            values = list(zip(found["matching"].to_pylist(), found["chunks"].to_pylist(),
                              strict=True))
            assert {threshold_of(values) / 2**40} == {
                float(row["threshold"]) for row in tolerances
                if (row["labels"], row["level"]) == (name, level)}
        shares = [Fraction(sum(c in hashes for c in page), len(page)) for page in vectors]
        start = points["change", name, 0]
        assert float(start["page_contains"]) == pytest.approx(
            float(sum(shares) / len(shares)), abs=1e-11)
    assert {way for way, _, _ in points} == {"add", "delete", "change"}


def test_thresholds_count_judged_hashes_and_flagged_neighbourhoods(
    crawls: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    site, around = crawls
    files = Counter(page.sha1 for page in SITE + AROUND)
    counts = Counter(
        row[0] for page in SITE + AROUND
        for row in chunks(page.body, page.kind, ChunkSettings()))
    hashes = sorted(counts)
    bad, benign = [*hashes[::3], "0" * 40, SITE[0].sha1], [*hashes[1::3], hashes[1]]
    for name, judged in (("bad", bad), ("benign", benign)):
        (tmp_path / name).write_text("\n".join(judged) + "\n")
    stops = StopSettings(lists=(str(tmp_path / "benign"),))
    assert main(["experiment", "thresholds", site, around, "--bad", str(tmp_path / "bad"),
                 "--benign", str(tmp_path / "benign"), "--stop-chunks", *stops.lists,
                 "--chunk-threshold", "9", "-o", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    rows = rows_of(tmp_path / "out", "thresholds")
    judged_chunks = {h: counts[h] for h in bad if h not in files}
    judged_files = {h: files[h] for h in bad if h in files}
    for row in rows:
        t = int(row["threshold"])
        if row["kind"] == "chunk":
            assert int(row["bad"]) == len(judged_chunks)
            assert int(row["true_positives"]) == sum(n > t for n in judged_chunks.values())
            assert int(row["false_positives"]) == sum(
                counts[h] > t for h in set(benign) - set(files))
        else:
            assert int(row["bad"]) == len(judged_files)
            assert int(row["true_positives"]) == sum(n > t for n in judged_files.values())
    assert {row["kind"] for row in rows} == {"chunk", "file"}
    caught = sum(n > 9 for n in judged_chunks.values())
    assert f"chunks that occur more than 9 times: {caught} of {len(judged_chunks)} bad" in shown
    effect = {row["stop_chunks"]: row for row in rows_of(tmp_path / "out", "stop_chunk_effect")}
    for name, setting in (("removed", stops), ("kept", StopSettings(0, (), builtin=False))):
        result = run([site, around], tmp_path / name, stops=setting,
                     discovery=DiscoverySettings(chunk_threshold=9))
        found = tables.read(result, "neighbourhoods").to_pylist()
        assert int(effect[name]["neighbourhoods"]) == len(found)
        assert int(effect[name]["flagged"]) == sum(row["flagged"] for row in found)
        assert int(effect[name]["labels"]) == len(discovered(result)["chunk"])
    above = Fraction(effect["removed"]["threshold"])
    assert effect["kept, threshold of removed"] == {
        **effect["kept"], "stop_chunks": "kept, threshold of removed",
        "threshold": effect["removed"]["threshold"],
        "flagged": str(sum(
            row["matching"] * 2**40 // row["chunks"] > above * 2**40 for row in found)),
    }


def test_an_experiment_is_a_result_that_can_be_replaced(
    crawls: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    site, _ = crawls
    out = tmp_path / "out"
    argv = ["experiment", "mutate", site, "-o", str(out), "--multiples", "0,4"]
    assert main([*argv, "--ways", "add,change"]) == 0
    shown = capsys.readouterr().out
    assert "papers" in shown and "4.4-5.4" in shown
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["kind"] == "experiment"
    assert manifest["settings"]["ways"] == ["add", "change"]
    figures = {f"mutate-{way}.{end}" for way in ("add", "change") for end in ("png", "svg")}
    assert set(manifest["files"]) == {*figures, "mutate.csv", "tolerances.csv", "report.html"}
    for name, sha256 in manifest["files"].items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == sha256
    assert {row["threshold"] for row in rows_of(out, "tolerances")} == {
        str(int(Fraction(x) * 2**40) / 2**40) for x in (0.144, 0.163)}
    again = [*argv, "--ways", "add,change", "-o", str(tmp_path / "again")]
    assert main(again) == 0
    assert (tmp_path / "again/manifest.json").read_bytes() == (out / "manifest.json").read_bytes()
    assert main(["run", str(out), "-o", str(tmp_path / "run")]) == 2
    capsys.readouterr()
    assert main([*argv, "--ways", "delete"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main([*argv, "--ways", "delete", "--overwrite"]) == 0
    assert sorted(p.name for p in out.iterdir()) == [
        "manifest.json", "mutate", "mutate-delete.png", "mutate-delete.svg", "mutate.csv",
        "rejects", "report.html", "run.json", "tolerances", "tolerances.csv"]


@pytest.mark.parametrize("name", ["inject", "mutate", "thresholds"])
def test_help_teaches(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["experiment", name, "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: beam-reuse experiment {name} ")
    assert all(f"--{option.name}" in shown for option in options_of(f"experiment-{name}"))
    assert "examples:" in shown


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["experiment"], "give one of inject, mutate, thresholds"),
        (["experiment", "injekt", "a"], "Did you mean inject?"),
        (["experiment-inject", "a"], "unknown command"),
        (["experiment", "inject", "a"], "experiment inject: give the folder"),
        (["experiment", "mutate", "-o", "x"], "give one or more INPUT"),
        (["experiment", "mutate", "a", "-o", "x", "--copies", "3"],
         "only of experiment inject"),
        (["experiment", "thresholds", "a", "-o", "x", "--bad", "b"], "--benign FILE"),
        (["experiment", "mutate", "a", "-o", "x", "--runs", "1"], "--runs"),
        (["experiment", "mutate", "a", "-o", "x", "--ways", "burn"], "add, delete, change"),
        (["experiment", "inject", "a", "-o", "x", "--copies", "3,1"], "ascending"),
        (["experiment", "inject", "a", "-o", "x", "--copies", "1,...,5"], "--copies"),
        (["experiment", "inject", "a", "-o", "x", "--copies", "1.5"], "--copies"),
    ],
)
def test_wrong_usage(argv: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.strip().count("\n") <= 1


def test_a_site_without_pages_is_refused_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = sites.write(tmp_path, "empty", [sites.Capture("http://a.example/", b"", None)])
    assert main(["experiment", "inject", empty, "-o", str(tmp_path / "out")]) == 2
    assert "no page with a chunk that counts" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_hash_judged_both_ways_is_refused(
    crawls: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "both").write_text("ab" * 20)
    assert main(["experiment", "thresholds", crawls[0], "--bad", str(tmp_path / "both"),
                 "--benign", str(tmp_path / "both"), "-o", str(tmp_path / "out")]) == 2
    assert f"{'ab' * 20} is judged bad and benign" in capsys.readouterr().err
