"""Every name that `from beam_reuse import ...` offers has an example, and it gives what it says."""

import doctest
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

import beam_reuse
from beam_reuse.cli.main import main
from tests.example_crawl import write_examples

OFFERED = [name for name in beam_reuse.__all__ if name != "__version__"]
# What examples take for granted; docs/python.md says so.
GIVEN = {"beam": beam, "FnApiRunner": FnApiRunner, **{
    name: getattr(beam_reuse, name) for name in beam_reuse.__all__}}


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    write_examples(folder)
    assert main(["run", str(folder / "crawl" / "pages.jsonl"), "-o", str(folder / "result"),
                 "--analyses", "boilerplate", "--workers", "1"]) == 0
    return folder


@pytest.mark.parametrize("name", OFFERED)
def test_the_example_is_true(
    name: str, examples: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(examples)
    offered = getattr(beam_reuse, name)
    own = vars(offered) if name == "tables" else {}
    (example,) = doctest.DocTestFinder(recurse=False).find(
        offered, name, globs={**GIVEN, **own})
    assert example.examples, f"{name} has no example"
    shown: list[str] = []
    failed = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=shown.append)
    assert not failed.failed, "".join(shown)
