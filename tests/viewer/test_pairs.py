"""What the screen of a pair says of a page that is dropped: the same as the table keep."""

from pathlib import Path

import pytest

from beam_reuse.viewer.pairs import containment, pair
from beam_reuse.viewer.view import open_view


def test_the_share_of_a_dropped_page_that_the_other_has(demo_made: Path) -> None:
    with open_view(str(demo_made / "result"), ()) as view:
        dropped = view.ask("keep", "*", "not keep and containment is not null")
        assert {row["reason"] for row in dropped} == {"identity", "pair"}
        for row in dropped:
            for sides in ((row["url"], row["because_of"]), (row["because_of"], row["url"])):
                found = pair(view, *sides)
                assert [each["url"] for each in found["rows"]["keep"]] == [row["url"]]
                assert found["contained"] == [row["containment"]]


@pytest.mark.parametrize(("dropped", "kept", "expected"), [
    ("a b c d e f", "x a b c d e y", 0.5), ("a b c d e", "b c d e a", 0.0), ("a b", "b c", 0.5),
    ("", "a", 1.0), ("a b c d e a b c d e", "a b c d e", 0.2),
])
def test_containment_is_of_distinct_runs(dropped: str, kept: str, expected: float) -> None:
    assert containment(dropped.split(), kept.split()) == expected
