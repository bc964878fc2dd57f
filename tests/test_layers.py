"""Imports point downwards: each room of the house uses only those below it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from beam_reuse.declaring.registry import RESERVED
from beam_reuse.declaring.settings import Settings

PACKAGE = Path(__file__).parents[1] / "beam_reuse"
ARCHITECTURE = PACKAGE.parent / "ARCHITECTURE.md"
# Each layer may import itself and those before it; rooms in one row must not know each other.
# Analyses are above what declares them: the registry knows them by name alone.
LAYERS = [
    {"kernels"},
    {"columnar", "core"},
    {"rows", "declaring"},
    {"io"},
    {"pages", "options", "plan", "report"},
    {"analyses", "runners", "publishing"},
    {"experiments", "judging", "detector"},
    {"pipeline", "demo", "viewer"},
    {"experiment_pipeline", "workers", "estimates", "yaml_transforms"},
    {"boot", "cli"},
    {"__main__"},
]
ROOMS = [room for layer in LAYERS for room in sorted(layer)]
WITHOUT_BEAM = ("core", "kernels", "declaring", "options", "judging")
# Where Beam is needed only for files and coders, and only to make a plan a graph.
LITTLE_BEAM = {"columnar": {"coders.py", "store.py"}, "rows": {"building.py"}}


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All that runs: without what is for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from statements(child)


def imports_of(path: Path) -> set[str]:
    """Full names of the modules a file imports, wherever the statement is."""
    found = set()
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def rooms_of(path: Path) -> set[str]:
    """Names right below the package that a file imports."""
    return {name.split(".")[1] for name in imports_of(path) if name.startswith("beam_reuse.")}


def files_of(room: str) -> list[Path]:
    module = PACKAGE / f"{room}.py"
    return [module] if module.exists() else sorted((PACKAGE / room).rglob("*.py"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__")


def test_every_room_has_its_layer() -> None:
    there = {path.parent.name for path in PACKAGE.glob("*/*.py")} | {
        path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert sorted(ROOMS) == sorted(there)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_uses_only_those_below(room: str) -> None:
    level = next(i for i, layer in enumerate(LAYERS) if room in layer)
    allowed = {room}.union(*LAYERS[:level])
    wrong = {
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path in files_of(room) for other in rooms_of(path)
        if other not in allowed and other != "__version__"
    }
    assert not wrong


def test_no_modules_import_each_other() -> None:
    modules = {module_of(path): path for path in PACKAGE.rglob("*.py")}
    # What is offered by name at the top is loaded when it is asked for.
    graph = {name: {other for other in imports_of(path) if other in modules} - {name, "beam_reuse"}
             for name, path in modules.items()}
    for name, path in modules.items():  # a package is not imported for the sake of its modules
        if path.name != "__init__.py":
            graph[name] -= {other for other in graph[name] if name.startswith(f"{other}.")}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_architecture_names_every_room_on_one_screen() -> None:
    text = ARCHITECTURE.read_text()
    named = set(re.findall(r"`(\w+)(?:/|\.py)`", text))
    assert {room for room in ROOMS if room != "__main__"} <= named
    assert len(text.splitlines()) <= 70


def test_parquet_is_not_read_through_threads_that_outlive_the_interpreter() -> None:
    """`pq.read_table` of an open file aborted one process in five at its end (pyarrow 25)."""
    assert not [path.name for path in PACKAGE.rglob("*.py") if "pq.read_table(" in path.read_text()]


@pytest.mark.parametrize("room", LITTLE_BEAM)
def test_beam_is_known_in_few_places(room: str) -> None:
    assert LITTLE_BEAM[room] == {
        path.name for path in files_of(room)
        if any(name.split(".")[0] == "apache_beam" for name in imports_of(path))}


@pytest.mark.parametrize("room", ["core", "kernels"])
def test_meaning_needs_no_files(room: str) -> None:
    wrong = {
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in files_of(room) for name in imports_of(path)
        if name.split(".")[0] in ("pyarrow", "os", "pathlib")
        and path.name not in ("kept_code.py", "kept_folder.py", "precompiling.py")  # no data
    }
    assert not wrong


def test_what_says_no_beam_imports_none() -> None:
    """Modules, and all modules of packages, whose docstring says "No Beam"."""
    said = {path for path in PACKAGE.rglob("*.py") if re.search(
        r"\bno beam\b", ast.get_docstring(ast.parse(path.read_text())) or "", re.I)}
    said |= {path for package in said if package.name == "__init__.py"
             for path in package.parent.rglob("*.py")}
    said |= {path for room in WITHOUT_BEAM for path in files_of(room)}
    assert len(said) > 60
    wrong = {path.name for path in said if "apache_beam" in {
        name.split(".")[0] for name in imports_of(path)}}
    assert not wrong


def test_no_analysis_can_take_a_field_of_the_settings() -> None:
    assert set(RESERVED) == {field.name for field in fields(Settings)}


def test_one_meaning_has_one_name() -> None:
    """A name says which class is meant. In Beam YAML an analysis has the name that it has in
    Python."""
    names = Counter(name for path in PACKAGE.rglob("*.py") if path.name != "yaml_transforms.py"
                    for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(), re.M))
    assert [name for name, count in names.items() if count > 1] == []
