"""Files of deploy/, and the commands of their containers on this machine."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = "docker-compose.yaml"
MANIFESTS = sorted(path.relative_to(DEPLOY).as_posix() for path in DEPLOY.glob("kubernetes/*"))
CRAWL = "/shared/crawl/*.warc.gz"


def read(name: str) -> list[dict[str, Any]]:
    """The documents of a file of YAML."""
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


def found(name: str, kind: str) -> dict[str, Any]:
    """The one document of a kind in a file."""
    (document,) = (each for each in read(name) if each["kind"] == kind)
    return document


def container(pod: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The one container of a name in the description of a pod."""
    (only,) = (each for each in pod["containers"] if each["name"] == name)
    return dict(only)


def stages() -> dict[str, str]:
    """The parts of the Dockerfile by name: a part has what it is built from before it."""
    parts = re.split(r"^FROM (\S+) AS (\S+)$", (DEPLOY / "Dockerfile").read_text(), flags=re.M)
    whole: dict[str, str] = {}
    for base, name, lines in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        whole[name] = whole.get(base, f"FROM {base}\n") + lines
    return whole


def entry_point(stage: str) -> list[str]:
    """What a container of an image runs before its arguments."""
    told = re.findall(r"^ENTRYPOINT (\[.*\])$", stages()[stage], re.M)
    return list(yaml.safe_load(told[-1])) if told else []


def here(words: Sequence[str], places: Mapping[str, str], crawl: Sequence[str] = ()) -> list[str]:
    """A command with places of containers changed to those of this machine."""
    changed: list[str] = []
    for word in words:
        if word == CRAWL:
            changed += crawl
            continue
        for place, ours in places.items():
            word = word.replace(place, ours)
        changed.append(word)
    return changed


def commands_of_the_readme(program: str) -> list[list[str]]:
    """Words of all commands in the README's blocks that begin so."""
    blocks = re.findall(r"```sh\n(.*?)```", (DEPLOY / "README.md").read_text(), re.S)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith(program)]
