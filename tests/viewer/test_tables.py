"""Pages of tables are those of a list in Python, however they are sorted and filtered."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_reuse.core.errors import UserError
from beam_reuse.viewer.tables import browse, count
from beam_reuse.viewer.view import View, open_view
from tests.judging.results import page_row, write_result

_LETTERS = "aAbäİ%_.ß"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[View, list[dict[str, Any]]]]:
    """A table of two parts with nulls and ties."""
    rows = [page_row(f"http://{_LETTERS[n % 9]}.example/{n * 37 % 101:03d}", n % 4, n % 5,
                     n % 3 == 0) for n in range(120)]
    parts = [sorted((row for row in rows if hash_of(row) == part), key=lambda row: row["url"])
             for part in (0, 1)]
    folder = write_result(tmp_path_factory.mktemp("tables") / "r", {"page_reuse": parts})
    with open_view(folder, ()) as view:
        yield view, [*parts[0], *parts[1]]


def hash_of(row: dict[str, Any]) -> int:
    return sum(row["url"].encode()) % 2


FILTERS = {
    "url.has.A": lambda row: "a" in row["url"].lower(),
    "url.has./01": lambda row: "/01" in row["url"],
    "url.has.%": lambda row: "%" in row["url"],
    "url.has._.EX": lambda row: "_.ex" in row["url"].lower(),
    "url.has./%.Ex": lambda row: "/%.ex" in row["url"].lower(),
    "url.has.Ä.E": lambda row: "ä.e" in row["url"].lower(),
    "url.has./İ.E": lambda row: "/i\u0307.e" in row["url"].lower(),
    "url.has.İ": lambda row: "i\u0307" in row["url"].lower(),
    "url.has.b\\.E": lambda row: "b\\.e" in row["url"].lower(),
    "url.starts.http://b": lambda row: row["url"].startswith("http://b"),
    "chunks.min.2": lambda row: row["chunks"] >= 2,
    "matching.is.3": lambda row: row["matching"] == 3,
    "flagged.is.true": lambda row: row["flagged"],
    "flagged.not.true": lambda row: not row["flagged"],
    "contains.null.true": lambda row: row["contains"] is None,
    "contains.max.0.5": lambda row: row["contains"] is not None and row["contains"] <= 0.5,
}


def expected(rows: list[dict[str, Any]], sort: str, down: bool, filters: list[str]) -> list[Any]:
    """The obvious: all rows that pass, sorted by value and place, nulls last."""
    passed = [row for row in rows if all(FILTERS[each](row) for each in filters)]
    if not sort:
        return passed[::-1] if down else passed
    key = lambda row: row[sort].encode() if isinstance(row[sort], str) else row[sort]  # noqa: E731
    there = sorted((row for row in passed if row[sort] is not None), key=key, reverse=down)
    if down:  # ties stay in the order of the table
        there = sorted((row for row in passed if row[sort] is not None), key=key)
        groups: dict[Any, list[Any]] = {}
        for row in there:
            groups.setdefault(row[sort], []).append(row)
        there = [row for value in reversed(groups) for row in groups[value]]
    return there + [row for row in passed if row[sort] is None]


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_page_of_any_order_forwards_and_back(
    made: tuple[View, list[dict[str, Any]]], data: st.DataObject,
) -> None:
    view, rows = made
    sort = data.draw(st.sampled_from(["", "url", "chunks", "contains", "flagged"]))
    down, size = data.draw(st.booleans()), data.draw(st.integers(1, 40))
    filters = data.draw(st.lists(st.sampled_from(sorted(FILTERS)), max_size=2, unique=True))
    wanted = expected(rows, sort, down, filters)
    assert count(view, "page_reuse", filters)["rows"] == len(wanted)
    after, found, pages = "", [], []
    while True:
        page = browse(view, "page_reuse", sort, down, filters, after=after, rows=size)
        found += page["rows"]
        pages.append(page)
        if not page["more"]:
            break
        after = page["last"]
    assert found == wanted
    for earlier, later in pairwise(pages):
        back = browse(view, "page_reuse", sort, down, filters, before=later["first"], rows=size)
        assert back["rows"] == earlier["rows"]
        assert back["more"] == (earlier is not pages[0])


def test_the_first_page_of_a_large_table_does_not_wait_for_its_copy(
    made: tuple[View, list[dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("beam_reuse.viewer.view.AT_ONCE", 0)
    with open_view(made[0].folder, ()) as view:
        monkeypatch.setattr(view, "prepare", lambda table: None)
        assert browse(view, "page_reuse", rows=5)["rows"] == made[1][:5]
        assert not view.is_copied("page_reuse")
        page = browse(view, "page_reuse", rows=5)
        assert browse(view, "page_reuse", after=page["last"], rows=5)["rows"] == made[1][5:10]
        assert view.is_copied("page_reuse")


@pytest.mark.parametrize("sort", ["", "url", "chunks", "contains", "flagged"])
@pytest.mark.parametrize("key", [
    "x", "5", "[]", "[1]", "[1, 2, 3]", '["x", true]', "[1, -1e99]", "[{}, 1]", "[[1], 1]",
    f"[{2**63}, 1]", f"[1, {2**63}]", '["\\ud800", 1]', "[" * 5_000, '["a\' or 1=1", "1"]',
])
def test_a_key_that_is_none_is_refused(
    made: tuple[View, list[dict[str, Any]]], sort: str, key: str,
) -> None:
    for where in ("after", "before"):
        with pytest.raises(UserError, match="no key of a row"):
            browse(made[0], "page_reuse", sort, **{where: key})


@pytest.mark.parametrize(("sort", "value"), [
    ("", "1"), ("url", "1"), ("url", "true"), ("chunks", '"1"'), ("chunks", "1.5"),
    ("chunks", "true"), ("contains", '"1"'), ("flagged", "1"), ("flagged", '"true"'),
])
def test_a_key_is_of_the_type_of_its_column(
    made: tuple[View, list[dict[str, Any]]], sort: str, value: str,
) -> None:
    with pytest.raises(UserError, match="no key of a row"):
        browse(made[0], "page_reuse", sort, after=f"[{value}, 1]")


@pytest.mark.parametrize("filter", [
    "chunks.min.1_0", "chunks.is.\u0661", "contains.max.1_0.5", "contains.max.\u0661",
    "chunks.min.99999999999999999999", "chunks.min.1.5", "chunks.min.",
])
def test_numbers_are_those_that_everybody_writes(
    made: tuple[View, list[dict[str, Any]]], filter: str,
) -> None:
    with pytest.raises(UserError, match="no value of this column"):
        count(made[0], "page_reuse", [filter])
