"""The value above which something is flagged: given, or mean plus one deviation.

Where labels come from lists, that needs a crawl which is a background: few pages, or a crawl of
suspects, do not say what is usual. There any known chunk flags, as where a page is checked alone.
docs/definitions.md has what `settings.BACKGROUND` was chosen by.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.core.shares import MOMENTS, NO_SHARE, auto_threshold, given_threshold, moments
from beam_reuse.rows import Rows, Value
from beam_reuse.rows.folds import SumColumns


def threshold_of(rows: Rows, given: float | None, least: int = 0) -> Value | int:
    """The greatest share that is not flagged: of `given`, or of rows with a column `share`, of
    which `least` make a background (see `auto_threshold`)."""
    return rows.fold(MeanPlusDeviation(least=least)) if given is None else given_threshold(given)


def is_above(rows: Block, threshold: int) -> NDArray[np.bool_]:
    """Which rows have a share that is above the threshold."""
    share = rows.maybe("share")
    return share.valid & (share.values > threshold)


@dataclass(frozen=True)
class MeanPlusDeviation(SumColumns):
    """Rows with a column `share` -> the mean of all plus one deviation, exact; 0 where fewer than
    `least`, or half of them and more with a share above 0, are no background."""

    columns: tuple[str, ...] = MOMENTS
    least: int = 0

    def add(self, held: dict[str, int], block: Block) -> dict[str, int]:
        return super().add(held, Block(moments(block.maybe("share").filled(NO_SHARE))))

    def finish(self, held: dict[str, int] | None) -> int:  # type: ignore[override]
        return auto_threshold(super().finish(held), self.least)
