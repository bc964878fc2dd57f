"""Configs of engines: what they name is there, and they can be laid under any question."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from beam_reuse.cli.arguments import parse
from beam_reuse.cli.main import plan_of
from beam_reuse.declaring.settings import Settings
from beam_reuse.runners import engine_for
from tests.configs.test_configs import CONFIGS, ENGINES, config


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_configs_of_engines_say_where_and_not_what(name: str) -> None:
    content = yaml.safe_load(Path(config(name)).read_text())
    command = re.search(r"#   beam-reuse (run .*)", Path(config(name)).read_text())
    words = shlex.split(command[1].replace("configs/", f"{CONFIGS}/"))
    found = parse(words)
    assert found.values == {"runner": name, "config": config(name), "output": words[3]}
    assert set(found.beam_args) == {
        f"--{key}={value}" for key, value in content.items() if key != "runner"}
    assert plan_of(found).settings == Settings()


def test_the_config_of_dataflow_lacks_nothing() -> None:
    plan = plan_of(parse(["run", "gs://my-crawl/a.gz", "-o", "gs://my-bucket/result", "--config",
                          config("dataflow"), "--dry_run=True", "--no_auth"]))
    with engine_for(plan, 0) as engine:
        options = engine.pipeline._options.get_all_options()
    assert (options["machine_type"], options["max_num_workers"]) == ("n2-standard-4", 20)
