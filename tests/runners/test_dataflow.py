"""What --runner dataflow asks of its user before it asks Google anything."""

from dataclasses import replace
from typing import Any

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.declaring.settings import Settings
from beam_reuse.plan import RunPlan
from beam_reuse.runners import engine_for
from beam_reuse.runners.portable import EngineError

GIVEN = ("--project=my-project", "--region=europe-west1", "--temp_location=gs://my-bucket/temp",
         "--sdk_container_image=eu.pkg.dev/p/r/i:1", "--dry_run=True", "--no_auth")
PLAN = RunPlan("run", ("gs://my-bucket/a.warc.gz",), "gs://my-bucket/out", Settings(),
               "dataflow", beam_args=GIVEN)


def options_of(plan: RunPlan) -> dict[str, Any]:
    with engine_for(plan, 0) as engine:
        assert engine.is_remote
        return engine.pipeline._options.get_all_options()


def test_defaults_are_given_and_the_users_win() -> None:
    options = options_of(PLAN)
    assert options["job_name"].startswith("beam-reuse-")
    assert (options["number_of_worker_harness_threads"], options["save_main_session"]) == (1, False)
    assert options["sdk_location"] == "container"
    mine = replace(PLAN, beam_args=(
        *GIVEN, "--job_name=mine", "--number_of_worker_harness_threads=4"))
    options = options_of(mine)
    assert (options["job_name"], options["number_of_worker_harness_threads"]) == ("mine", 4)
    from_source = replace(PLAN, beam_args=(*GIVEN, "--setup_file=./setup.py"))
    assert options_of(from_source)["sdk_location"] == "default"


@pytest.mark.parametrize("missing", ["--project", "--region", "--temp_location",
                                     "--sdk_container_image"])
def test_what_only_the_user_knows_is_asked_for(missing: str) -> None:
    plan = replace(PLAN, beam_args=tuple(a for a in GIVEN if not a.startswith(missing)))
    with pytest.raises(UserError, match=missing):
        options_of(plan)


@pytest.mark.parametrize(("option", "change"), [
    ("-o result", {"output": "result"}), ("INPUT a.warc.gz", {"inputs": ("a.warc.gz",)}),
    ("--labels a.brl", {"settings": replace(
        Settings(), detection=replace(Settings().detection, labels=("a.brl",)))}),
])
def test_files_of_this_machine_are_refused(option: str, change: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"{option}: workers .* do not see this machine"):
        options_of(replace(PLAN, **change))


def test_a_failure_is_told_in_the_services_words() -> None:
    with engine_for(PLAN, 0) as engine, pytest.raises(EngineError, match="quota"):
        engine.trouble(RuntimeError("Dataflow pipeline failed. State: FAILED: quota exceeded"))
