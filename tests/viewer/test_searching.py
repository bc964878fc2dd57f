"""Pages by words: signs between them, markup and case count for nothing."""

from pathlib import Path

import pytest

from beam_reuse.viewer.passages import search
from beam_reuse.viewer.view import open_view
from tests.judging.results import chunk_row, write_result

LICENCE = ("<p>Boost Software&nbsp;License - <b>Version 1.0</b>.  (See\naccompanying file "
           "L\u2019ÉTÉ_1_0.txt, or \u6771\u4eac\u90fd)")


@pytest.mark.parametrize(("words", "found"), [
    ("Boost Software License Version 1.0 See accompanying file", True),
    ("boost software license, version 1.0", True), ("software-license VERSION", True),
    ("l'été 1 0", True), ("licen", True), ("\u4eac\u90fd", True), ("1.0. (see", True),
    ("license boost", False), ("software version", False), ("nbsp", False), ("softwarelicense",
    False), ("%", False), ("...", False), ("", False),
])
def test_words_one_after_another(words: str, found: bool, tmp_path: Path) -> None:
    folder = write_result(tmp_path / "result", {"frequent_chunks": [[
        chunk_row("a" * 40, 3, LICENCE), chunk_row("b" * 40, 3, "<p>something else, 2.0")]]})
    with open_view(folder, ()) as view:
        assert [row["sha1"] for row in search(view, words)["chunks"]] == ["a" * 40] * found
