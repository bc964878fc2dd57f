"""Published schemas of what deploy/ has, fetched into the user's cache; a test is skipped, and says
why, where one cannot be had."""

import json
import os
import re
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from beam_reuse.core.errors import UserError
from beam_reuse.runners.fetching import FetchError, Kit, call, fetch, kits_folder

SCHEMA = "schema.json"
FLINK_OPERATOR = "org.apache.flink:flink-kubernetes-operator-api:1.10.0"
CHECK = "0.39.0"
_OF_KUBEFLOW = """
import json, sys
sys.path.insert(0, sys.argv[1])
from kubeflow_spark_api.models import SparkV1beta2SparkApplication as application
print(json.dumps(application.model_json_schema(by_alias=True)))
"""


def _download(package: str, folder: Path) -> Path:
    call(sys.executable, "Python is needed.", "-m", "pip", "download", "-q", "--no-deps", "--dest",
         str(folder), package)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _fill_flink(folder: Path) -> str:
    call("mvn", "Install Maven.", "-q", "-B", "dependency:copy", f"-Dartifact={FLINK_OPERATOR}",
         f"-DoutputDirectory={folder}")
    (jar,) = folder.glob("*.jar")
    with zipfile.ZipFile(jar) as archive:
        crd = archive.read("META-INF/fabric8/flinkdeployments.flink.apache.org-v1.yml")
    schema = yaml.safe_load(crd)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    (folder / SCHEMA).write_text(json.dumps(schema))
    jar.unlink()
    return FLINK_OPERATOR


def _fill_spark(folder: Path) -> str:
    wheel = _download("kubeflow_spark_api==2.4.0", folder)
    told = subprocess.run([sys.executable, "-c", _OF_KUBEFLOW, str(wheel)], capture_output=True,
                          text=True, check=False)
    if told.returncode:
        raise FetchError(f"{wheel.name}: {told.stderr.strip().splitlines()[-1]}")
    schema = json.loads(told.stdout)
    # What Kubernetes writes as 500m, 2Gi or a number is a class of its own in this package.
    schema["$defs"] |= {name: {"type": ["string", "number"]} for name in schema["$defs"]
                        if name.endswith(("ResourceQuantity", "IntOrString"))}
    (folder / SCHEMA).write_text(json.dumps(schema))
    wheel.unlink()
    return wheel.name


def _fill_kubernetes(folder: Path) -> str:
    wheel = _download("kubernetes-validate==1.29.1", folder)
    kinds = {}
    with zipfile.ZipFile(wheel) as archive:
        latest = max(name.split("/")[2] for name in archive.namelist()
                     if "-local-strict/" in name)
        for kind in ("job-batch-v1", "service-v1", "persistentvolumeclaim-v1", "podspec-v1"):
            place = f"kubernetes_validate/kubernetes-json-schema/{latest}"
            kinds[kind] = json.loads(archive.read(f"{place}/{kind}.json"))
        definitions = json.loads(archive.read(f"{place}/_definitions.json"))
    text = json.dumps({"kinds": kinds, **definitions})
    (folder / SCHEMA).write_text(re.sub(r'"[^"]*_definitions\.json#/', '"#/', text))
    wheel.unlink()
    return f"{wheel.name}, {latest}"


def _fill_check(folder: Path) -> str:
    wheel = _download(f"check-jsonschema=={CHECK}", folder)
    place = "check_jsonschema/builtin_schemas/vendor"
    with zipfile.ZipFile(wheel) as archive:
        schemas = {name: json.loads(archive.read(f"{place}/{name}.json"))
                   for name in ("compose-spec", "github-workflows")}
    (folder / SCHEMA).write_text(json.dumps(schemas))
    wheel.unlink()
    return wheel.name


KITS = {kit.name: kit for kit in (
    Kit("flink-operator", "1.10.0", "schema of FlinkDeployment", _fill_flink, needs_java=False),
    Kit("spark-operator", "2.4.0", "schema of SparkApplication", _fill_spark, needs_java=False),
    Kit("kubernetes", "1.29.1", "schemas of Kubernetes", _fill_kubernetes, needs_java=False),
    Kit("check-jsonschema", CHECK, "schemas of compose files and GitHub workflows", _fill_check,
        needs_java=False),
)}


@cache
def schema(name: str) -> Any:
    """A schema, or several by name."""
    folder = Path(os.environ.get("BEAM_REUSE_SCHEMAS") or kits_folder().parent / "schemas")
    try:
        found = fetch(KITS[name], folder)
    except (UserError, FetchError) as error:
        pytest.skip(f"{KITS[name].about} cannot be had: {error}")
    return json.loads((found.folder / SCHEMA).read_text())


def closed(schema: Any) -> Any:
    """The same schema, by which keys that it does not name are wrong."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    if (isinstance(found.get("properties"), dict) and "additionalProperties" not in found
            and not found.get("x-kubernetes-preserve-unknown-fields")):
        found["additionalProperties"] = False
    return found
