"""Kits are complete or not there, and damage is found."""

import json
import os
from importlib import metadata
from pathlib import Path

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.runners import kits
from beam_reuse.runners.fetching import (
    CONTENTS,
    SETTINGS,
    FetchError,
    Kit,
    call,
    fetch,
    find,
    kits_folder,
)


def filled(folder: Path) -> str:
    (folder / "lib").mkdir()
    (folder / "lib" / "a.jar").write_text("jar")
    (folder / "b.txt").write_text("text")
    return "a kit of two files"


KIT = Kit("toy", "1.0", "a toy", filled)


def program(folder: Path, name: str, script: str) -> None:
    """Put a shell script named `name` into a folder."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_kit_is_fetched_once_and_then_checked(tmp_path: Path) -> None:
    first = fetch(KIT, tmp_path / "kits")
    assert (first.done, first.files, first.bytes) == ("fetched", 2, 7)
    again = fetch(KIT, tmp_path / "kits")
    assert (again.done, again.what, again.folder) == ("checked", "a kit of two files", first.folder)
    assert find(KIT, tmp_path / "kits") == first.folder
    assert os.listdir(tmp_path / "kits") == ["toy-1.0"]


@pytest.mark.parametrize(("damage", "told"), [
    (lambda kit: (kit / "b.txt").unlink(), "b.txt is missing"),
    (lambda kit: (kit / "b.txt").write_text("test"), "b.txt is damaged"),
    (lambda kit: (kit / "b.txt").write_text("longer"), "b.txt is damaged"),
    (lambda kit: (kit / CONTENTS).write_text("{"), "contents.json cannot be read"),
    (lambda kit: (kit / CONTENTS).unlink(), "not found"),
])
def test_damage_is_found_and_mended(tmp_path: Path, damage, told: str) -> None:
    kit = fetch(KIT, tmp_path).folder
    damage(kit)
    assert fetch(KIT, tmp_path).done == f"fetched again ({told})"
    assert fetch(KIT, tmp_path).done == "checked"


def with_settings(folder: Path) -> str:
    (folder / SETTINGS).mkdir()
    (folder / SETTINGS / "config.yaml").write_text("as it came")
    return filled(folder)


def test_settings_are_the_users(tmp_path: Path) -> None:
    """A change of them is no damage, and outlives a damage of something else."""
    settings = Kit("toy", "1.0", "a toy", with_settings)
    folder = fetch(settings, tmp_path).folder
    (folder / SETTINGS / "config.yaml").write_text("as the user has it")
    assert fetch(settings, tmp_path).done == "checked"
    assert find(settings, tmp_path) == folder
    (folder / "b.txt").unlink()
    assert fetch(settings, tmp_path).done == "fetched again (b.txt is missing)"
    assert (folder / SETTINGS / "config.yaml").read_text() == "as the user has it"
    assert fetch(settings, tmp_path).done == "checked"
    assert os.listdir(tmp_path) == ["toy-1.0"]


def test_a_damaged_kit_stays_until_there_is_another(tmp_path: Path) -> None:
    folder = fetch(KIT, tmp_path).folder
    (folder / "b.txt").unlink()

    def broken(folder: Path) -> str:
        raise FetchError("the net is down")

    with pytest.raises(FetchError, match="net is down"):
        fetch(Kit("toy", "1.0", "a toy", broken), tmp_path)
    assert (folder / "lib" / "a.jar").read_text() == "jar"


def test_no_pip_is_told_with_the_way_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(kits, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pyspark==.* is fetched with pip, .* -m ensurepip"):
        fetch(kits.KITS["spark-cluster"], tmp_path)


def test_what_fails_on_the_way_leaves_nothing(tmp_path: Path) -> None:
    def broken(folder: Path) -> str:
        filled(folder)
        raise FetchError("the net is down")

    with pytest.raises(FetchError, match="net is down"):
        fetch(Kit("toy", "1.0", "a toy", broken), tmp_path)
    assert os.listdir(tmp_path) == []
    with pytest.raises(UserError, match="beam-reuse engines toy"):
        find(KIT, tmp_path)


def test_a_use_notices_a_file_that_is_gone(tmp_path: Path) -> None:
    kit = fetch(KIT, tmp_path).folder
    (kit / "lib" / "a.jar").unlink()
    told = f"a toy: lib/a.jar is missing .* engines toy --engines-dir {tmp_path}"
    with pytest.raises(UserError, match=told):
        find(KIT, tmp_path)


def test_the_place_is_given_or_the_environments_or_the_cache(monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    monkeypatch.delenv("BEAM_REUSE_ENGINES", raising=False)
    assert kits_folder() == Path("/cache/beam-reuse/engines")
    monkeypatch.setenv("BEAM_REUSE_ENGINES", "/there")
    assert kits_folder() == Path("/there")
    assert kits_folder("/here") == Path("/here")


def test_a_client_that_is_missing_or_fails_is_told(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(UserError, match=r"nosuchclient is not installed .* Install it"):
        call("nosuchclient", "Install it.")
    program(tmp_path, "client", "echo starting; echo '[ERROR] no such artefact'; echo bye; exit 1")
    with pytest.raises(FetchError, match=r"client failed: \[ERROR\] no such artefact"):
        call("client", "")


MVN = """
echo "$@" >> {calls}
for word; do case $word in
  -DoutputDirectory=*) out=${{word#*=}};;
  -Dartifact=*) artifact=$word;;
esac; done
if [ -n "$artifact" ]; then {ready}; fi
mkdir -p "$out"; echo part > "$out/part.jar"
"""


def fake_maven(tmp_path: Path, monkeypatch, ready: str) -> Path:
    """Put a Maven on the PATH that does `ready` when it is asked for a ready job server."""
    calls = tmp_path / "calls"
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin", "mvn", MVN.format(calls=calls, ready=ready))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    return calls


def test_the_ready_job_server_is_taken_where_maven_has_it(tmp_path: Path, monkeypatch) -> None:
    calls = fake_maven(tmp_path, monkeypatch, ready="true")
    got = fetch(kits.KITS["flink"], tmp_path / "kits")
    assert got.what.startswith("the job server beam-runners-flink-1.19-job-server of Beam ")
    assert len(calls.read_text().splitlines()) == 1
    assert [p.name for p in got.folder.glob("lib/*")] == ["part.jar"]


@pytest.mark.parametrize("engine", ["flink", "flink-1.20", "spark"])
def test_else_it_is_assembled_from_parts(tmp_path: Path, monkeypatch, engine: str) -> None:
    calls = fake_maven(tmp_path, monkeypatch, ready="echo '[ERROR] none'; exit 1")
    got = fetch(kits.KITS[engine], tmp_path / "kits")
    assert got.what.startswith("a job server assembled from parts of Beam 2.62.0")
    assert "dependency:copy-dependencies" in calls.read_text().splitlines()[1]
    assert f"beam-runners-{engine[:5]}" in (got.folder / "pom.xml").read_text()
    assert got.folder.name in ("flink-1.19", "flink-1.20", "spark-3.5")
    assert sorted(json.loads((got.folder / CONTENTS).read_text())["files"]) == [
        "lib/part.jar", "pom.xml"]


def test_what_has_no_parts_is_refused_where_maven_lacks_it(tmp_path: Path, monkeypatch) -> None:
    fake_maven(tmp_path, monkeypatch, ready="echo '[ERROR] none'; exit 1")
    with pytest.raises(FetchError, match=r"no beam-runners-flink-2.0-job-server of Beam .* "
                                         r"\(.* none\).* --flink_job_server_jar FILE, .*"
                                         r" 1.19 or 1.20"):
        fetch(kits.KITS["flink-2.0"], tmp_path / "kits")
    assert os.listdir(tmp_path / "kits") == []


def test_no_maven_is_told_with_the_way_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"mvn is not installed .* --flink_job_server_jar FILE"):
        fetch(kits.KITS["flink"], tmp_path / "kits")


def test_prism_is_built_for_the_installed_beam_with_go(tmp_path: Path, monkeypatch) -> None:
    program(tmp_path, "go", 'echo "$@" > "$GOBIN/prism"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    got = fetch(kits.KITS["prism"], tmp_path / "kits")
    version = metadata.version("apache-beam")
    assert got.folder.name == f"prism-{version}"
    assert (got.folder / "prism").read_text().endswith(f"/go/cmd/prism@v{version}\n")


def test_no_go_is_told_with_the_way_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"go is not installed .*Install Go .*--prism_location"):
        fetch(kits.KITS["prism"], tmp_path / "kits")
