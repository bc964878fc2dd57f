"""Rows of JSON Lines are taken apart into the very bytes of their columns."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.io.corpus.json_rows import member, members_of, object_of

NAMES = st.text(st.sampled_from('a{}[],:"\\é\u2028\ud800 '), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12)
ROWS = st.lists(st.tuples(NAMES, VALUES), max_size=6)
SPACES = st.sampled_from(("", " ", "\t ", "\r"))


@given(ROWS, SPACES, SPACES, st.booleans())
def test_members_are_those_of_the_line(
    row: list[tuple[str, Any]], before: str, after: str, is_ascii: bool,
) -> None:
    def written(value: Any) -> bytes:
        text = json.dumps(value, ensure_ascii=is_ascii, separators=(before + "," + after, ":"))
        return text.encode("utf-8", "replace")

    parts = [written(name) + before.encode() + b":" + after.encode() + written(value)
             for name, value in row]
    line = b" {" + (before + "," + after).encode().join(parts) + b" } "
    found = members_of(line)
    assert [each.key for each in found] == [written(name) for name, _ in row]
    assert [each.value for each in found] == [written(value) for _, value in row]
    pairs = json.loads(line, object_pairs_hook=list)
    assert [each.name for each in found] == [name for name, _ in pairs]
    assert repr(json.loads(object_of(found), object_pairs_hook=list)) == repr(pairs)


def test_depth_and_length_are_no_limits() -> None:
    deep, digits = b"[" * 100_000 + b"]" * 100_000, b"7" * 100_000
    found = members_of(b'{"deep": ' + deep + b', "digits": ' + digits + b"}")
    assert [each.value for each in found] == [deep, digits]
    assert member("é", [1]) == ("é", '"é"'.encode(), b"[1]")
    assert members_of(b"{}") == [] and object_of([]) == b"{}"
