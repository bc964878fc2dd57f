"""The example of Beam YAML, through Beam's own runner of YAML, and what the transforms refuse."""

import csv
import inspect
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
import yaml
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from beam_reuse import QuiltSettings
from beam_reuse.core.errors import UserError
from beam_reuse.declaring.registry import known
from beam_reuse.options.table import OPTIONS
from beam_reuse.yaml_transforms import constructors
from tests.analyses import patchwork
from tests.oracles.quilts import Quilts

ROOT = Path(__file__).parents[2]
RUNNER = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"
for module in ("jinja2", "jsonschema", "pandas"):
    pytest.importorskip(module, reason="pip install 'beam-reuse[yaml]'")
from apache_beam.yaml import main as yaml_main  # noqa: E402
from apache_beam.yaml.yaml_transform import SafeLineLoader, expand_pipeline  # noqa: E402


def csv_in(folder: Path, name: str) -> list[dict[str, str]]:
    return [row for path in sorted(folder.glob(f"{name}*")) for row in csv.DictReader(path.open())]


def test_the_example_gives_what_the_definition_says(tmp_path: Path) -> None:
    documents = patchwork.patchworks(5, 60)
    patchwork.write(tmp_path / "a.jsonl", documents)
    expected = Quilts([each.page() for each in documents], QuiltSettings()).tables()
    yaml_main.run([
        f"--yaml_pipeline_file={ROOT / 'examples' / 'quilts.yaml'}", f"--runner={RUNNER}",
        "--jinja_variables=" + json.dumps({"crawl": f"{tmp_path}/*.jsonl", "out": str(tmp_path)})])
    unlinked = [row for row in expected["quilts"] if row["linked_page_share"] < 0.5]
    assert unlinked
    assert sorted((row["url"], int(row["patch_grams"])) for row in csv_in(tmp_path, "quilts")) == (
        sorted((row["url"], row["patch_grams"]) for row in unlinked))
    sources = [json.loads(line) for path in tmp_path.glob("sources*")
               for line in path.read_text().splitlines()]
    assert by_rank(sources) == by_rank(
        row | {"share": pytest.approx(row["share"], abs=1e-8)} for row in expected["quilt_sources"])


def by_rank(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["url"], row["rank"]))


@contextmanager
def refused(message: str) -> Iterator[None]:
    """Beam puts what we say between the place in the file and its own words."""
    with pytest.raises(ValueError, match=message):
        yield


def pipeline_of(*transforms: dict[str, Any]) -> None:
    """Build the graph of transforms in a file that includes our provider."""
    p = beam.Pipeline(runner=FnApiRunner())
    text = json.dumps({
        "providers": [{"include": str(ROOT / "beam_reuse" / "provider.yaml")}],
        "pipeline": {"transforms": transforms}})
    expand_pipeline(p, yaml.load(text, Loader=SafeLineLoader))


READ = {"type": "ReadPages", "config": {"inputs": "a.jsonl"}}


def test_every_analysis_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text('{"url": "http://a.example/", "html": "<p>a b"}\n')
    Path("evals.jsonl").write_text('{"id": 1, "question": "What is it that is asked of whom?"}\n')
    config = {"FindContamination": {"against": ["evals.jsonl"]}}
    others = [name for name in constructors() if name != "ReadPages"]
    pipeline_of(READ, *({"type": name, "input": "ReadPages.pages", "config": config.get(name, {})}
                        for name in others))
    asked = {about.transform.rpartition(":")[2] for about in known().values()
             if about.is_asked_for or about.command == "decontaminate"}
    assert {*others} == asked | {"ListPages"}


def test_what_makes_no_sense_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text('{"url": "http://a.example/", "html": "<p>a b"}\n')
    quilts = {"type": "FindQuilts", "input": "ReadPages.pages"}
    with refused("--min-sources: .*0.* is not allowed"):
        pipeline_of(READ, quilts | {"config": {"min_sources": 0}})
    with refused("FindQuilts has no option 'min_source'; it has tables, gram_size"):
        pipeline_of(READ, quilts | {"config": {"min_source": 4}})
    with refused("FindQuilts has no table 'keep'; it has quilts, quilt_sources"):
        pipeline_of(READ, quilts | {"config": {"tables": ["keep"]}})
    with refused("FindQuilts takes the output `pages` of ReadPages, as it is"):
        pipeline_of(READ, quilts | {"input": "ReadPages.rejects"})


def test_every_option_of_an_analysis_is_a_key() -> None:
    for about in known().values():
        name = about.transform.rpartition(":")[2]
        if name in constructors():
            keys = inspect.signature(constructors()[name]).parameters
            assert {each.name.replace("-", "_") for each in about.options} <= {*keys}
    read = inspect.signature(constructors()["ReadPages"]).parameters
    assert {each.name.replace("-", "_") for each in OPTIONS
            if each.setting.startswith(("read.", "chunks."))} | {"inputs"} == {*read}


def test_inputs_have_to_be_named() -> None:
    with pytest.raises(UserError, match="inputs"):
        constructors()["ReadPages"]()
