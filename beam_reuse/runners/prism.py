"""Prism: Beam's own engine for one machine, a program that takes graphs without a job server."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from apache_beam.options.pipeline_options import (
    PipelineOptions,
    PortableOptions,
    PrismRunnerOptions,
)

from beam_reuse.core.errors import UserError
from beam_reuse.plan import RunPlan
from beam_reuse.runners.engine import Engine
from beam_reuse.runners.fetching import find, kits_folder
from beam_reuse.runners.job_server import serving
from beam_reuse.runners.kits import KITS, PRISM
from beam_reuse.runners.portable import portable_engine
from beam_reuse.runners.python_workers import kind_of, python_workers

LOG = "prism.log"
_STARTED = re.compile(r"Serving JobManagement.*?(localhost:\d+)", re.DOTALL)


def require(plan: RunPlan) -> None:
    """Refuse a plan that cannot work, before anything is opened."""
    kind_of(plan, PipelineOptions(list(plan.beam_args)).view_as(PortableOptions), None)


@contextmanager
def engine(plan: RunPlan) -> Iterator[Engine]:
    """A Prism of ours on this machine, and one Python worker, in which it runs up to eight bundles
    at a time. It fuses graphs itself, and takes none that is fused already."""
    options = PipelineOptions(list(plan.beam_args))
    program = program_at(options.view_as(PrismRunnerOptions).prism_location, plan.engines)
    with (tempfile.TemporaryDirectory(prefix="beam-reuse-prism-") as folder,
          python_workers(plan, options.view_as(PortableOptions), None) as workers,
          serving([program, "--job_port=0", "--serve_http=false"], Path(folder) / LOG,
                  _STARTED, "Prism") as server):
        yield portable_engine(plan, [], workers, server, takes_fused=False)


def program_at(location: str | None, kits: str) -> str:
    """The program the user named with `--prism_location`, else the one that was built here."""
    if location is None:
        return str(find(KITS[PRISM], kits_folder(kits)) / PRISM)
    if not Path(location).is_file():
        raise UserError(f"--prism_location {location}: there is no such file. Name the program "
                        f"{PRISM}, or build it with: beam-reuse engines {PRISM}")
    if not os.access(location, os.X_OK):
        raise UserError(f"--prism_location {location}: this is no program that may be run. Unpack "
                        "it if it is an archive, and make it executable (chmod +x).")
    return os.path.abspath(location)
