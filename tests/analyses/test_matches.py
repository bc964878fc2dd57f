"""Matches come back from their folded form as they went in."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.reuse.matches import MATCHES, fold
from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.io.results.arrow_columns import to_arrow
from beam_reuse.io.results.tables import SCHEMAS

SOURCES = ["", "http://s/1", "http://s/2"]
MATCH = st.tuples(st.integers(0, 4), st.sampled_from([b"a" * 20, b"b" * 20]),
                  st.integers(0, 2), st.none() | st.integers(116, 128))
Matches = list[tuple[int, bytes, int, int | None]]


def folded(matches: Matches, urls: list[str]) -> Block:
    """Matches of pages with these URLs; a match is page, hash, source and score."""
    places = np.arange(len(matches))
    score = Maybe(np.array([m[3] or 0 for m in matches], np.int64),
                  np.array([m[3] is not None for m in matches], np.bool_))
    return fold(
        VarBytes.from_list([url.encode() for url in urls]),
        np.array([m[0] for m in matches], np.int64),
        {"position": places, "start": places * 2, "end": places * 2 + 1, "score": score,
         "sources": places % 3, "own": places % 2 == 1,
         "sha1": np.array([m[1] for m in matches], "V20")},
        VarBytes.from_list([source.encode() for source in SOURCES]),
        np.array([m[2] for m in matches], np.int64),
    )


@given(st.lists(MATCH, max_size=20), st.lists(MATCH, max_size=20), st.integers(0, 40),
       st.integers(1, 40))
def test_any_rows_of_several_blocks(a: Matches, b: Matches, first: int, count: int) -> None:
    blocks, rows = [], []
    for name, some_matches in (("a", a), ("b", b)):
        matches = sorted(some_matches, key=lambda match: match[0])
        urls = [f"http://{name}/{page}" for page in range(5)]
        blocks.append(folded(matches, urls))
        rows += [
            {"url": urls[page], "position": i, "start": 2 * i, "end": 2 * i + 1, "sha1": sha1.hex(),
             "source_url": SOURCES[source] or None, "sources": i % 3, "own": i % 2 == 1,
             "score": score}
            for i, (page, sha1, source, score) in enumerate(matches)
        ]
    schema = SCHEMAS["matched_chunks"]
    some = slice(min(first, len(rows)), min(first + count, len(rows)))
    whole = Block.concat(blocks)
    columns = MATCHES.unfold(whole, schema, some.start, some.stop)
    assert to_arrow(schema, columns).to_pylist() == rows[some]
    unscored = MATCHES.unfold(whole.without("score"), schema)
    assert to_arrow(schema, unscored).to_pylist() == [{**row, "score": None} for row in rows]
