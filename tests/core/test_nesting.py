"""Pages that would make the parser explode are refused; odd but harmless ones are not."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from resiliparse.parse.html import HTMLTree

from beam_reuse.core.nesting import MAX_NESTING, TooDeep, check_nesting
from beam_reuse.core.text import read_html
from beam_reuse.kernels.nesting import measure_written
from tests.oracles.text import lexbor_tree

SIZE = 600_000
EXPLOSIVE = {
    "div": "<div>", "span": "<span>", "upper case": "<DIV>", "rt without ruby": "<rt>",
    "lists": "<ul><li>", "tables": "<table><tr><td>", "definitions": "<dl><dt><dd>",
    "formatting": "<b><i>", "misnested": "<b><p><i></b></p>", "links": "<a><div>",
    "svg": "<svg><g>", "custom": "<x-y/>", "template": "<template>", "object": "<object><p>",
}


def seconds_to_refuse(html: str) -> float:
    start = time.process_time()
    with pytest.raises(TooDeep):
        check_nesting(html.encode())
    return time.process_time() - start


@pytest.mark.parametrize("name", EXPLOSIVE)
def test_deep_nesting_is_refused_fast(name: str) -> None:
    piece = EXPLOSIVE[name]
    assert seconds_to_refuse(piece * (SIZE // len(piece))) < 10


@pytest.mark.parametrize("html", [
    "".join(f"<p><font size={i}>x" for i in range(30_000)),
    "".join(f"<p><font size={i} x={'y' * 500}>x" for i in range(1_000)),
    "".join(f"<b a{i}>" for i in range(2_000)) + "<p>x</p>" * 100_000,
    "<svg>" + "<g>" * 9_990 + "</x>" * 100_000,
    "<div>" * 9_000 + "<p>" * 100_000,
    "<p " + " ".join(f"a{i}=x" for i in range(100_000)) + ">",
    "<p " + "/".join(f"a{i}" for i in range(100_000)) + ">",
    "<!-- <b x=\"--><p a=\">\" " + " ".join(f"a{i}=x" for i in range(100_000)) + ">",
    ("<p " + " ".join(f"a{i}=x" for i in range(9_000)) + ">") * 14,
], ids=["reopened", "reopened long", "reopened everywhere", "stray end tags", "many under deep",
        "attributes", "attributes by slash", "attributes hidden", "attributes in many tags"])
def test_other_explosions_are_refused_fast(html: str) -> None:
    assert seconds_to_refuse(html) < 10


@pytest.mark.parametrize("html", [
    "<div>" * (MAX_NESTING - 10),
    "<p>" * 200_000,
    "<li>x" * 100_000,
    "<table>" + "<tr><td>x" * 50_000,
    "<table>" + "".join(f"<tr><td><font size={i % 7} color={i % 50}>x</td>" for i in range(20_000)),
    "<svg>" + "<path d='x'/>" * 50_000 + "</svg>",
    "<script>if(i<n){x=[" + "1, " * 200_000 + "]}</script>",
    "<script>x='" + "<div><\\/div>" * 30_000 + "'</script>",
    "<!-- " + "<div>" * 30_000 + " -->",
    "<ruby>x<rt>y</ruby>" * 30_000,
    "</div>" * 100_000,
    "<a <a " * 50_000,
    "<img alt='" + "word " * 200_000 + "'>",
], ids=["deep", "p", "li", "td", "fonts in cells", "svg paths", "script with data",
        "script with html", "comment", "ruby", "end tags", "broken tags", "long attribute"])
def test_harmless_pages_pass(html: str) -> None:
    check_nesting(html.encode())
    start = time.process_time()
    read_html(html)
    assert time.process_time() - start < 10


@given(st.lists(st.sampled_from(["<div>", "<b a=x c>", "</div>", "<br>", "<p>", "x", "<!-- <i> -->",
                                 "<style><u></style>", "<script>a<b></script>", "</b>"])))
def test_depth_of_a_tree_is_measured_right(pieces: list[str]) -> None:
    html = "".join(pieces)
    written = str(HTMLTree.parse(html)).encode()
    depth = deepest = 0
    for event in lexbor_tree(html):
        depth += {"start": 1, "end": -1}.get(event[0], 0)
        deepest = max(deepest, depth if event[0] == "start" and event[1] != "br" else 0)
    assert measure_written(np.frombuffer(written, np.uint8))[0] == deepest
