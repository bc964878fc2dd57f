"""The Dataflow template: complete, valid, and launched as Google's launcher does it."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from google.cloud.dataflow_v1beta3 import ParameterType, TemplateMetadata
from packaging.requirements import Requirement

from beam_reuse.cli.arguments import parse
from beam_reuse.cli.beam_options import beam_options
from beam_reuse.cli.template import (
    COMMANDS,
    IMAGE,
    NOT_FOR_A_TEMPLATE,
    command_line,
    parameter_name,
    parameters,
)
from beam_reuse.demo.sample import sample_crawl
from beam_reuse.demo.writing import write_crawl
from beam_reuse.options.table import ANALYSES, options_of
from beam_reuse.options.values import default_text
from tests.engines.running import digests, environment

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "templates" / "dataflow"
LAUNCH = "gs://my-bucket/staging/template_launches/2026-01-01_00_00_00-1"
# What the service adds to the parameters.
ADDED = (
    "--runner=DataflowRunner", "--project=my-project", "--region=europe-west1",
    "--job_name=my-job", f"--template_location={LAUNCH}/job_object",
    "--temp_location=gs://my-bucket/temp", f"--staging_location={LAUNCH}",
    '--labels={"team": "search"}', "--max_num_workers=8", "--no_auth",
)


@pytest.fixture(scope="module")
def metadata() -> TemplateMetadata:
    return TemplateMetadata.from_json((TEMPLATE / "metadata.json").read_text())


def test_metadata_is_that_of_the_table_of_options() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import runpy, sys; "
         "print(runpy.run_path(sys.argv[1])['text'](), end='')", TEMPLATE / "make_metadata.py"],
        capture_output=True, text=True, check=True, env=environment())
    assert done.stdout == (TEMPLATE / "metadata.json").read_text(), "run make_metadata.py"


def test_parameters_are_the_options_both_ways(metadata: TemplateMetadata) -> None:
    told = {each.name for each in metadata.parameters}
    others = {"inputs", "command", "sdk_container_image"}
    for command in COMMANDS:
        for option in options_of(command):
            assert (parameter_name(option) in told) is (option.name not in NOT_FOR_A_TEMPLATE)
    assert told - others == {
        parameter_name(o) for command in COMMANDS for o in options_of(command)} - {
        name.replace("-", "_") for name in NOT_FOR_A_TEMPLATE}
    # A name that Beam has, too, would be taken for Beam's.
    assert {name for name in told if f"--{name}" in beam_options()} == {"sdk_container_image"}
    assert {each.name for each in metadata.parameters if not each.is_optional} == {
        "inputs", "output"}


def test_parameters_allow_what_options_do(metadata: TemplateMetadata) -> None:
    regexes = {each.name: each.regexes[0] for each in metadata.parameters}
    for option in options_of("run"):
        regex = regexes.get(parameter_name(option))
        default = default_text(option, "run")
        if regex and default:
            assert re.fullmatch(regex, default), option.name
            option.read(default)
    for each in metadata.parameters:
        assert each.label and each.help_text and each.group_name
        assert not re.fullmatch(each.regexes[0], "")
        assert bool(each.enum_options) is (each.param_type == ParameterType.ENUM)
        for choice in each.enum_options:
            assert re.fullmatch(each.regexes[0], choice.value)


@pytest.mark.parametrize(("name", "good", "bad"), [
    ("inputs", "gs://b/a.warc.gz,gs://b/crawl/*.warc.gz", "crawl.warc.gz"),
    ("output", "gs://b/result", "/tmp/result"),
    ("min_chunk_bytes", "1.5K", "many"), ("page_threshold", "0.25", "2"),
    ("file_threshold", "auto", "-1"), ("status", "200,404", "ok"), ("gram_size", "5,4,6", "5;4"),
    ("label_lists", "gs://b/a.brl,gs://b/c.parquet", "a.brl"), ("captures", "all", "some"),
    ("overwrite", "true", "yes"), ("command", "index", "labels"), ("min_values", "84", "8.4"),
])
def test_wrong_values_are_refused_by_the_service(
    metadata: TemplateMetadata, name: str, good: str, bad: str,
) -> None:
    (regex,) = next(each.regexes for each in metadata.parameters if each.name == name)
    assert re.fullmatch(regex, good)
    assert not re.fullmatch(regex, bad)


def test_parameters_become_our_command_line() -> None:
    words = command_line([
        "--inputs=gs://b/1.warc.gz,gs://b/2.warc.gz", "--output=gs://b/out", "--overwrite=true",
        "--classic=false", "--label_lists=gs://b/x.brl,gs://b/y.brl", "--min_chunk_bytes=64",
        "--analyses=", "--requirement=unknown", *ADDED], {IMAGE: "eu.pkg.dev/p/r/i:1"})
    found = parse(words)
    assert (found.command, found.inputs) == ("run", ("gs://b/1.warc.gz", "gs://b/2.warc.gz"))
    assert found.values == {
        "output": "gs://b/out", "overwrite": True, "labels": ("gs://b/x.brl", "gs://b/y.brl"),
        "min-chunk-bytes": 64, "runner": "dataflow"}
    assert "--sdk_container_image=eu.pkg.dev/p/r/i:1" in found.beam_args
    assert '--label={"team": "search"}' in found.beam_args
    given = command_line(["--sdk_container_image=mine"], {IMAGE: "its"})
    assert [word for word in given if "image" in word] == ["--sdk_container_image=mine"]


def test_every_parameter_reaches_its_option() -> None:
    for option in options_of("run"):
        if option.name in NOT_FOR_A_TEMPLATE:
            continue
        value = "true" if option.is_flag else default_text(option, "run") or "gs://b/x"
        word = f"--{parameter_name(option)}={value}"
        assert any(each.startswith(f"--{option.name}") for each in command_line([word], {}))


def start(cloud: Path, *task: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.templates.launching", str(cloud), *map(str, task)],
        capture_output=True, text=True, check=False, timeout=300, cwd=ROOT, env=environment())


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bucket with the sample crawl."""
    folder = tmp_path_factory.mktemp("cloud")
    write_crawl(sample_crawl(), str(folder / "my-bucket" / "crawl"))
    return folder


def launched(cloud: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return start(cloud, "launch", TEMPLATE / "main.py", "--inputs=gs://my-bucket/crawl/*.gz",
                 "--output=gs://my-bucket/result", *words, *ADDED)


def test_a_launched_job_publishes_the_result_of_a_local_run(cloud: Path, tmp_path: Path) -> None:
    done = launched(cloud, "--sdk_container_image=eu.pkg.dev/p/r/beam-reuse:1")
    assert done.returncode == 0, done.stderr
    bucket = cloud / "my-bucket"
    staged = bucket / LAUNCH.removeprefix("gs://my-bucket/")
    job = json.loads((staged / "job_object").read_text())
    assert job["name"] == "my-job" and job["type"] == "JOB_TYPE_BATCH"
    assert job["labels"] == {"team": "search"}
    assert {pool["workerHarnessContainerImage"] for pool in job["environment"]["workerPools"]} == {
        "eu.pkg.dev/p/r/beam-reuse:1"}
    assert not (bucket / "result" / "manifest.json").exists()
    (graph,) = staged.rglob("pipeline.pb")
    ran = start(cloud, "run", f"gs://{graph.relative_to(cloud)}", "run",
                *sorted((bucket / "crawl").glob("*.gz")), "-o", tmp_path / "local")
    assert ran.returncode == 0, ran.stderr
    assert not list((bucket / "result").glob(".beam-reuse*"))
    assert digests(bucket / "result") == digests(tmp_path / "local")
    assert "report.html" in digests(bucket / "result")
    assert json.loads((bucket / "result" / "run.json").read_text())["runner"] == "dataflow"


GRAPHS = """
import sys
from beam_reuse import pipeline
from beam_reuse.cli.arguments import parse
from beam_reuse.cli.main import plan_of
from beam_reuse.io.results.run_folder import Workspace
from beam_reuse.runners import engine_for
for words in sys.argv[1:]:
    plan = plan_of(parse(words.split()))
    inputs = pipeline.inputs_of(plan)
    with engine_for(plan, inputs.bytes) as engine:
        pipeline.build(engine.pipeline, plan, inputs, Workspace("gs://my-bucket/out/work"))
        job = engine.pipeline.run().job
    print(job.proto.name, len(job.proto_pipeline.components.transforms))
"""


def graphs(cloud: Path, plans: Sequence[str], folder: Path) -> list[str]:
    (folder / "graphs.py").write_text(GRAPHS)
    done = start(cloud, "launch", folder / "graphs.py", *plans)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_dataflow_takes_the_graph_of_every_analysis(cloud: Path, tmp_path: Path) -> None:
    options = ("gs://my-bucket/crawl/*.gz -o gs://my-bucket/out --runner dataflow --dry_run=True "
               "--no_auth --project my-project --region europe-west1 --temp_location "
               "gs://my-bucket/temp --sdk_container_image eu.pkg.dev/p/r/i:1 --job_name")
    plans = [f"run --analyses {each} {options} {each}" for each in ANALYSES if each != "detection"]
    plans += [f"run --analyses discovery,detection {options} detection", f"index {options} index"]
    told = dict(line.split() for line in graphs(cloud, plans, tmp_path))
    assert set(told) == {*ANALYSES, "index"}
    assert int(told["detection"]) > int(told["discovery"]) > int(told["index"])


def test_the_image_pins_what_the_package_needs() -> None:
    pinned = dict(
        line.split("==") for line in (TEMPLATE / "requirements.txt").read_text().splitlines()
        if not line.startswith("#"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for needed in map(Requirement, project["dependencies"]):
        assert needed.specifier.contains(pinned[needed.name]), needed
    dockerfile = (TEMPLATE / "Dockerfile").read_text()
    assert f"apache/beam_python3.11_sdk:{pinned['apache-beam']} " in dockerfile
    for source in re.findall(r"^COPY (?!--from)(.*) \S+$", dockerfile, re.MULTILINE):
        assert all((ROOT / path).exists() for path in source.split())
    build = yaml.safe_load((TEMPLATE / "cloudbuild.yaml").read_text())
    assert "templates/dataflow/Dockerfile" in build["steps"][0]["args"]


def test_names_of_parameters_are_unique() -> None:
    names = [each.name for each in parameters()]
    assert len(names) == len(set(names))
