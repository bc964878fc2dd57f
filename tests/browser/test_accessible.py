"""Screens of the viewer have no barrier that axe-core calls serious, light and dark."""

import json
import shutil
from collections.abc import Iterator

import pytest

from beam_reuse.io.results import tables
from tests.browser.accessibility import axe_script, barriers
from tests.browser.visiting import Visitor, at, first

pytestmark = pytest.mark.browser


def screens(result: str) -> list[str]:
    pair, quilt = first(result, "near_duplicates"), first(result, "quilts")
    hosts, chunk = first(result, "server_overlap"), first(result, "frequent_chunks")
    most = max(tables.read(result, "page_overlap").to_pylist(), key=lambda row: row["shared"])
    known = first(result, "matched_chunks")["url"]
    sheet = {"sheet": "near_duplicates.csv"}
    return [
        "#/", "#/passages", "#/passages?of=lines", "#/sites", "#/pages", "#/pages?words=the",
        "#/pairs", "#/pairs?of=page_overlap", "#/quilts", "#/families", "#/records?of=skipped",
        "#/records?of=rejects", "#/tables", "#/nowhere", at("passage", sha1=chunk["sha1"]),
        at("line", fingerprint=first(result, "boilerplate")["fingerprint"]),
        at("site", host=hosts["host_a"]), at("shared", a=hosts["host_a"], b=hosts["host_b"]),
        *(at("page", url=url, **{"as": how}) for url in (quilt["url"], known)
          for how in ("", "source", "rendered")),
        at("pair", a=pair["url_a"], b=pair["url_b"]), at("pair", a=most["url_a"], b=most["url_b"]),
        at("quilt", url=quilt["url"]), at("family", name=first(result, "families")["family"]),
        at("table", name="pages"), at("table", name="neighbourhoods"), "#/judge",
        at("judging", **sheet), at("judging", row=3, **sheet), at("judged", **sheet),
    ]


@pytest.fixture
def judged(demo: tuple[Visitor, str]) -> Iterator[tuple[Visitor, str]]:
    """The viewer of the demo, with a sheet of which two rows are judged."""
    visitor, result = demo
    visitor.go("#/judge")
    visitor.click("form.filters button[type=submit]")
    visitor.until("document.querySelector('.judge-bar')")
    for key in "jf":
        before = visitor.run("location.hash")
        visitor.press(key)
        visitor.until(f"location.hash !== {before!r} && document.querySelector('.judge-bar')")
    yield demo
    shutil.rmtree(result + ".judgements")


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 1280), (True, 390)])
def test_nobody_is_shut_out(dark: bool, width: int, judged: tuple[Visitor, str]) -> None:
    visitor, result = judged
    script = axe_script()
    visitor.look(width, dark=dark)
    found = {}
    for screen in screens(result):
        visitor.go(screen)
        if screen == "#/":
            visitor.until("document.querySelectorAll('.card').length > 4")
        if severe := barriers(visitor, script):
            found[screen] = severe
    visitor.press("?")
    if severe := barriers(visitor, script):
        found["?"] = severe
    visitor.run("document.getElementById('help').close()")
    visitor.look()
    assert not found, json.dumps(found, indent=1)
