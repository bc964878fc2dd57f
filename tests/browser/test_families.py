"""Families in the viewer: how large they are, who is in one, and two of them side by side."""

import pytest

from beam_reuse.io.results import tables
from tests.browser.visiting import Visitor, at, nothing_happened

pytestmark = pytest.mark.browser


def test_families_by_size_and_two_members_compared(demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    members: dict[str, list[dict[str, object]]] = {}
    for row in tables.read(result, "families").to_pylist():
        members.setdefault(row["family"], []).append(row)
    domains = {name: len({row["domain"] for row in rows}) for name, rows in members.items()}
    visitor.go("#/families")
    shown = visitor.run("[...document.querySelectorAll('tbody tr')].map("
                        "r => [...r.cells].slice(0, 3).map(c => c.innerText))")
    assert {name: (int(many), int(pages)) for name, many, pages in shown} == {
        name: (domains[name], len(rows)) for name, rows in members.items()}
    assert [int(row[1]) for row in shown] == sorted(domains.values(), reverse=True)
    visitor.click("td.last a")
    visitor.until("location.hash.startsWith('#/pair?') && document.querySelector('.sides .row')")
    largest = str(shown[0][0])
    visitor.go(at("family", name=largest))
    assert all(str(row["url"]) in visitor.text() for row in members[largest])
    assert visitor.run("document.querySelectorAll('tbody tr').length") == len(members[largest])
    visitor.click("td.last a")
    visitor.until("location.hash.startsWith('#/pair?') && document.querySelector('.sides .row')")
    other = str(members[largest][-1]["url"])
    visitor.go(at("family", name=largest, **{"with": other}))
    led = visitor.run("[...document.querySelectorAll('td.last a')].map(a => a.hash)"
                      ".filter(h => h.startsWith('#/pair'))")
    assert len(led) == len(members[largest]) - 1 and all(
        "a=" + at("", a=other).partition("a=")[2] in hash for hash in led)
    nothing_happened(visitor)
