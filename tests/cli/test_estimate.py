"""`estimate`: its numbers hold for a run of the same crawl, and `run` warns of shortages."""

import json
import random
from pathlib import Path

import pytest

from beam_reuse.cli import shortages
from beam_reuse.cli.estimate import SAMPLE, estimated
from beam_reuse.cli.main import main
from beam_reuse.declaring.settings import Settings
from beam_reuse.demo.prose import Prose
from beam_reuse.estimates import sampling
from beam_reuse.io.results.tables import read_manifest
from beam_reuse.plan import RunPlan


@pytest.fixture
def crawl(tmp_path: Path) -> list[str]:
    """Pages of paragraphs, of which one in three is on other pages, too."""
    rng = random.Random(5)
    common = [f"<p>{Prose(f'common {n}').paragraph(2)}</p>" for n in range(50)]
    for number in range(4):
        (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps({
            "url": f"http://h{number}.example/{n % 7}/{n}",
            "html": "".join(rng.choice(common) if rng.random() < 0.3 else
                            f"<p>{Prose(f'own {number} {n} {k}').paragraph(1)}</p>"
                            for k in range(8))}) + "\n" for n in range(300)))
    return [str(tmp_path / f"{number}.jsonl") for number in range(4)]


def test_a_run_needs_what_is_estimated(
    crawl: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampling, "LEAST_SAMPLE", 100_000)
    monkeypatch.setattr(sampling, "LEAST_PIECE", 4000)
    settings = Settings(analyses=("discovery", "detection"))
    found = estimated(RunPlan("run", tuple(crawl), "none", settings), SAMPLE)
    assert found.sample < 120_000 < 500_000 < found.size
    assert main(["run", *crawl, "-o", str(tmp_path / "out"), "--analyses",
                 "discovery,detection"]) == 0
    accounting = read_manifest(str(tmp_path / "out")).accounting
    measured = json.loads((tmp_path / "out" / "run.json").read_text())["measured"]
    assert found.pages.holds(accounting.pages) and accounting.pages == 1200
    assert {f"rows/{each.name}" for each in found.groupings} <= {*measured}
    assert found.shuffled.holds(sum(
        number for name, number in measured.items() if name.startswith("bytes/")))


def test_the_command_says_what_a_run_needs_and_writes_nothing(
    crawl: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(tmp_path.iterdir())
    assert main(["estimate", *crawl, "--analyses", "boilerplate", "--price", "3600", "--workers",
                 "2"]) == 0
    said = capsys.readouterr().out
    for what in ("pages", "CPU hours", "time, 2 workers", "money", "disk", "memory, a worker",
                 "shuffled", "what would change it most: ",
                 "of the bytes are shuffled for boilerplate"):
        assert what in said, what
    assert sorted(tmp_path.iterdir()) == before


def test_wrong_usage_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate"]) == 2
    assert "estimate: give one or more INPUT" in capsys.readouterr().err
    assert main(["estimate", str(tmp_path / "absent")]) == 2
    assert "absent" in capsys.readouterr().err


def test_run_warns_of_a_disk_and_a_memory_that_will_not_do(
    crawl: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(shortages, "_free", lambda path: 1000)
    monkeypatch.setattr(shortages, "LEAST_DISK", 0)
    monkeypatch.setattr(shortages, "machine_memory", lambda: 1 << 20)
    assert main(["run", *crawl, "-o", str(tmp_path / "out"), "--analyses", "boilerplate"]) == 0
    error = capsys.readouterr().err
    assert "1.0 kB are free there" in error and "`beam-reuse estimate` says more" in error
    assert "of memory, and this machine has 1.0 MB" in error
    monkeypatch.undo()
    assert main(["run", *crawl, "-o", str(tmp_path / "out"), "--analyses", "boilerplate",
                 "--overwrite"]) == 0
    assert "warning" not in capsys.readouterr().err
