"""What Google's launcher and Dataflow do with a template, each in a process of its own.

    python -m tests.templates.launching FOLDER launch MAIN --parameter=value ...
    python -m tests.templates.launching FOLDER run gs://bucket/staging/pipeline.pb WORD...

FOLDER is what gs:// stands for. After a job was run, words are a command line of ours to run, too.
"""

import runpy
import sys
from pathlib import Path

from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability import common_urns, python_urns
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from beam_reuse.cli.main import main
from tests.templates import buckets


def run(pipeline: str) -> None:
    """Run the graph that was staged, in this process instead of the image it names."""
    graph = beam_runner_api_pb2.Pipeline.FromString(buckets.Buckets.objects[pipeline])
    for environment in graph.components.environments.values():
        assert environment.urn == common_urns.environments.DOCKER.urn
        environment.urn = python_urns.EMBEDDED_PYTHON
        environment.payload = b""
        del environment.dependencies[:]
    FnApiRunner().run_via_runner_api(graph, PipelineOptions([])).wait_until_finish()


if __name__ == "__main__":
    folder, task, *rest = sys.argv[1:]
    buckets.use(Path(folder))
    if task == "run":
        run(rest[0])
        sys.exit(main(rest[1:]))
    else:
        sys.argv = rest
        runpy.run_path(rest[0], run_name="__main__")
