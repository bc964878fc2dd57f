"""Files that other programs read are what those have published as right."""

import copy
from functools import cache
from typing import Any

import pytest
import yaml
from jsonschema.validators import validator_for

from tests.deploy.recipes import COMPOSE, DEPLOY, MANIFESTS, found, read
from tests.deploy.schemas import closed, schema

ROOT = DEPLOY.parent

OPERATORS = {"FlinkDeployment": "flink-operator", "SparkApplication": "spark-operator"}
PLAIN = {"Job": "job-batch-v1", "Service": "service-v1",
         "PersistentVolumeClaim": "persistentvolumeclaim-v1", "PodSpec": "podspec-v1"}


def complaints(document: Any, kind: str) -> list[str]:
    """What the schema of a kind finds wrong; each with its place."""
    if kind in OPERATORS:  # all around `spec` is the same for everything in Kubernetes
        document = document["spec"]
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"
            for error in validator_of(kind).iter_errors(document)]


@cache
def validator_of(kind: str) -> Any:
    """Who knows the schema of a kind; of an operator's that of its `spec`."""
    if kind in OPERATORS:
        whole = closed(schema(OPERATORS[kind]))
        known = {"$defs": whole.get("$defs", {}), **whole["properties"]["spec"]}
    elif kind in PLAIN:
        whole = schema("kubernetes")
        known = {**whole, **whole["kinds"][PLAIN[kind]]}
    else:
        known = schema("check-jsonschema")[kind]
    return validator_for(known)(known)


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_is_right(name: str) -> None:
    for document in read(name):
        assert not complaints(document, document["kind"])


@pytest.mark.parametrize(("name", "kind"), [
    ("kubernetes/flink.yaml", "FlinkDeployment"), ("kubernetes/spark.yaml", "SparkApplication")])
def test_containers_beside_an_engines_are_right(name: str, kind: str) -> None:
    spec = found(name, kind)["spec"]
    beside = (spec["taskManager"]["podTemplate"]["spec"] if kind == "FlinkDeployment" else
              {"containers": spec["executor"]["sidecars"], "volumes": spec["volumes"]})
    assert not complaints(beside, "PodSpec")


def test_the_compose_file_is_right() -> None:
    (document,) = read(COMPOSE)
    assert not complaints(document, "compose-spec")


def test_the_workflow_is_right_and_calls_make() -> None:
    document = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    document["on"] = document.pop(True)  # YAML 1.1 reads the word so
    assert not complaints(document, "github-workflows")
    runs = [step["run"] for job in document["jobs"].values() for step in job["steps"]
            if "run" in step]
    assert {"make test", "make test-engines"} <= set(runs)


def test_hooks_before_a_commit_are_those_of_make() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    assert [hook["entry"] for hook in repository["hooks"]] == ["make lint", "make types"]


@pytest.mark.parametrize(("name", "kind", "place", "wrong"), [
    ("kubernetes/flink.yaml", "FlinkDeployment", "spec.flinkVersion", "v0_9"),
    ("kubernetes/flink.yaml", "FlinkDeployment", "spec.taskManager.replica", 2),
    ("kubernetes/spark.yaml", "SparkApplication", "spec.executor.sidecar", []),
    ("kubernetes/spark.yaml", "SparkApplication", "spec.executor.instances", "two"),
    ("kubernetes/flink-run.yaml", "Job", "spec.template.spec.restartPolice", "Never"),
    ("kubernetes/storage.yaml", "PersistentVolumeClaim", "spec.accessModes", "ReadWriteMany"),
    (COMPOSE, "compose-spec", "services.submit.network-mode", "host"),
    (COMPOSE, "compose-spec", "services.jobmanager.ports", 8081),
])
def test_what_is_wrong_is_found(name: str, kind: str, place: str, wrong: Any) -> None:
    document = copy.deepcopy(read(name)[0] if name == COMPOSE else found(name, kind))
    *groups, last = place.split(".")
    group = document
    for each in groups:
        group = group[each]
    group[last] = wrong
    assert complaints(document, kind)


@pytest.mark.parametrize("file", ["deploy/Dockerfile", "templates/dataflow/Dockerfile"])
def test_images_copy_what_is_there_and_not_ignored(file: str) -> None:
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines()
            if line.startswith("!")]
    sources = [source for line in (ROOT / file).read_text().splitlines()
               if line.startswith("COPY ") and "--from=" not in line
               for source in line.split()[1:-1]]
    assert sources
    for source in sources:
        assert (ROOT / source).exists()
        assert any(source == each or source.startswith(f"{each}/") for each in kept)
