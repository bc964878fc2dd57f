"""Dataflow: Google's service, to which the graph is handed."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from apache_beam.options.pipeline_options import (
    GoogleCloudOptions,
    PipelineOptions,
    SetupOptions,
    WorkerOptions,
)

from beam_reuse.core.errors import UserError
from beam_reuse.plan import RunPlan
from beam_reuse.runners.engine import Engine, pipeline_of
from beam_reuse.runners.portable import EngineError, words_of

# Each worker machine runs a process per core; a second thread in one would double its memory and
# wait for the first most of the time. Nothing of the program that launches is needed by workers.
DEFAULTS = ("--number_of_worker_harness_threads=1", "--no_save_main_session")
STORAGE = "gs://"


def require(plan: RunPlan) -> None:
    """Refuse a plan that cannot work, without asking the service."""
    require_cloud_folders(plan)
    require_options(PipelineOptions(list(plan.beam_args)))


@contextmanager
def engine(plan: RunPlan) -> Iterator[Engine]:
    """The service itself, or, with `--template_location`, a file from which it makes the job."""
    options = PipelineOptions(list(plan.beam_args))
    require(plan)
    cloud, setup = options.view_as(GoogleCloudOptions), options.view_as(SetupOptions)
    named = [] if cloud.job_name else [f"--job_name=beam-reuse-{uuid.uuid4().hex[:12]}"]
    # An image has Beam, and this package: nothing is to be sent along.
    installed = [] if setup.setup_file else ["--sdk_location=container"]
    yield Engine(pipeline_of([
        *DEFAULTS, *named, *installed, *plan.beam_args, "--runner=DataflowRunner",
    ]), _trouble, is_remote=True)


def require_cloud_folders(plan: RunPlan) -> None:
    """Refuse what workers of the service would not see."""
    for option, path in plan.places:
        if "://" not in path:
            raise UserError(f"{option} {path}: workers of --runner dataflow do not see this "
                            f"machine. Give a place on {STORAGE} (gcloud storage cp copies there).")


def require_options(options: PipelineOptions) -> None:
    """Refuse a run that lacks what only its user knows."""
    cloud, setup = options.view_as(GoogleCloudOptions), options.view_as(SetupOptions)
    needed: Sequence[tuple[str, str | None, str]] = (
        ("--project", cloud.project, "the project that pays, such as my-project"),
        ("--region", cloud.region, "where workers run, such as europe-west1"),
        ("--temp_location", cloud.temp_location or cloud.staging_location,
         f"a folder for Dataflow's own files, such as {STORAGE}BUCKET/temp"),
    )
    for name, value, what in needed:
        if not value:
            raise UserError(f"--runner dataflow needs {name}: {what}.")
    if not (setup.setup_file or options.view_as(WorkerOptions).sdk_container_image):
        raise UserError(
            "--runner dataflow: workers need this package. Name the image that has it with "
            "--sdk_container_image (templates/dataflow says how to build one), or, from a "
            "checkout, have them install it with --setup_file ./setup.py.")


def _trouble(error: Exception) -> None:
    raise EngineError(words_of(error)) from error
