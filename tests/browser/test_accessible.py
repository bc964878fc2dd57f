"""Screens of the viewer have no barrier that axe-core calls serious, light and dark."""

import json

import pytest

from tests.browser.accessibility import axe_script, barriers
from tests.browser.visiting import Visitor, at, first

pytestmark = pytest.mark.browser


def screens(result: str) -> list[str]:
    pair, quilt = first(result, "near_duplicates"), first(result, "quilts")
    hosts, chunk = first(result, "server_overlap"), first(result, "frequent_chunks")
    return [
        "#/", "#/passages", "#/sites", "#/pages", "#/pairs", "#/quilts", "#/families",
        "#/records", "#/records?of=rejects", "#/nowhere", at("passage", sha1=chunk["sha1"]),
        at("site", host=hosts["host_a"]), at("shared", a=hosts["host_a"], b=hosts["host_b"]),
        at("page", url=quilt["url"]), at("page", url=quilt["url"], **{"as": "source"}),
        at("pair", a=pair["url_a"], b=pair["url_b"]), at("quilt", url=quilt["url"]),
        at("table", name="pages"), at("table", name="neighbourhoods"),
    ]


@pytest.mark.parametrize("dark", [False, True])
def test_nobody_is_shut_out(dark: bool, demo: tuple[Visitor, str]) -> None:
    visitor, result = demo
    script = axe_script()
    visitor.look(dark=dark)
    found = {}
    for screen in screens(result):
        visitor.go(screen)
        if screen == "#/":
            visitor.until("document.querySelectorAll('.card').length > 4")
        if severe := barriers(visitor, script):
            found[screen] = severe
    visitor.look()
    assert not found, json.dumps(found, indent=1)
