"""Imports point downwards: each room of the house uses only those below it."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "beam_reuse"
# Each layer may import itself and those before it; rooms in one row must not know each other.
LAYERS = [
    {"kernels"},
    {"columnar", "core"},
    {"rows", "declaring"},
    {"io"},
    {"pages"},
    {"analyses"},
    {"experiments", "judging"},
]
WITHOUT_BEAM = ("core", "kernels")
# Where Beam is needed only for files and coders, and only to make a plan a graph.
LITTLE_BEAM = {"columnar": {"coders.py", "store.py"}, "rows": {"building.py"}}


def imports_of(path: Path) -> set[str]:
    """Full names of the modules a file imports, wherever the statement stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
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
    return sorted((PACKAGE / room).rglob("*.py"))


@pytest.mark.parametrize("room", [room for layer in LAYERS for room in sorted(layer)])
def test_a_room_uses_only_those_below(room: str) -> None:
    level = next(i for i, layer in enumerate(LAYERS) if room in layer)
    allowed = {room}.union(*LAYERS[:level])
    wrong = {
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path in files_of(room) for other in rooms_of(path)
        if other not in allowed and other != "__version__"
    }
    assert not wrong


def test_parquet_is_not_read_through_threads_that_outlive_the_interpreter() -> None:
    """`pq.read_table` of an open file aborted one process in five at its end (pyarrow 25)."""
    assert not [path.name for path in PACKAGE.rglob("*.py") if "pq.read_table(" in path.read_text()]


@pytest.mark.parametrize("room", LITTLE_BEAM)
def test_beam_is_known_in_few_places(room: str) -> None:
    assert LITTLE_BEAM[room] == {
        path.name for path in files_of(room)
        if any(name.split(".")[0] == "apache_beam" for name in imports_of(path))}


@pytest.mark.parametrize("room", WITHOUT_BEAM)
def test_meaning_needs_no_beam_and_no_files(room: str) -> None:
    wrong = {
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in files_of(room) for name in imports_of(path)
        if name.split(".")[0] in ("apache_beam", "pyarrow", "os", "pathlib")
    }
    assert not wrong
