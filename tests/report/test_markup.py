"""Markup: text of anybody comes out as text."""

import html5lib
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.report.markup import element, escaped, table

SEEN = st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")))
HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</title><svg onload=x>",
           "&lt;b&gt;", "' onmouseover='x", "]]>", "<!--")


@given(SEEN | st.sampled_from(HOSTILE), SEEN | st.sampled_from(HOSTILE))
def test_what_a_reader_sees_is_the_text(content: str, attribute: str) -> None:
    page = "<!doctype html><title>t</title>" + element("p", escaped(content), title=attribute)
    root = html5lib.parse(page, namespaceHTMLElements=False)
    (found,) = root.iter("p")
    assert (found.text or "", found.get("title")) == (content, attribute)
    assert not list(found)


def test_marks_of_direction_and_control_characters_are_shown() -> None:
    assert escaped("gnp.exe\u202e\u2066") == "gnp.exe\\u202e\\u2066"
    assert escaped("a\x00b\x1b[31m") == "a\\u0000b\\u001b[31m"
    assert escaped("a\nb\tc") == "a\nb\tc"


def test_columns_of_numbers_are_set_as_numbers() -> None:
    root = html5lib.parse(table(("name", "n"), [["1a", "1,000"], ["b", "2.5"]]),
                          namespaceHTMLElements=False)
    assert [cell.get("class") for cell in root.iter("td")] == [None, "n", None, "n"]
