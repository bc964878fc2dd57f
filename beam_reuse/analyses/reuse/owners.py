"""Which matches are a page's own: its domain is that of a source of the label; no Beam."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.distinct import distinct_strings
from beam_reuse.columnar.matching import lookup
from beam_reuse.pages.rows import NumberedRows

FOLDER = np.frombuffer(b"file:", np.uint8)
_NOBODY = -1


@dataclass(frozen=True)
class Owners:
    """Whose labels are: `names` has the sources of all of them in order, and number n of them is a
    source of label k if k * len(names) + n is among `pairs`."""

    names: VarBytes
    pairs: NDArray[np.int64]

    @staticmethod
    def of(rows: Block, starts: NDArray[np.int64]) -> "Owners":
        """The owners of labels with rows starts[k] to starts[k + 1] each, one per source."""
        source = rows.maybe("source")
        names, which = distinct_strings(source.values)
        label = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return Owners(names, (label * len(names) + which)[source.valid])

    def own(
        self, label: NDArray[np.int64], page: NDArray[np.int64], domain: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Whether label[i] has a source on the domain of page[i]; `domain` as `number` gives it."""
        of_page = domain[page]
        found: NDArray[np.bool_] = np.isin(label * len(self.names) + of_page, self.pairs)
        return found & (of_page != _NOBODY)

    def number(self, pages: NumberedRows) -> NDArray[np.int64]:
        """For each page the number of its domain among `names`, or -1: a page of a folder has none,
        whatever the folder is called. Needs the columns `url` and `domain`."""
        domains, which = distinct_strings(pages.rows.strings("domain"))
        places = lookup(Block({"name": domains}), Block({"name": self.names}), ("name",))
        return np.where(_of_folders(pages.rows.strings("url")), _NOBODY, places[which])


def _of_folders(urls: VarBytes) -> NDArray[np.bool_]:
    """Which URLs begin with `file:`."""
    starts = urls.offsets[:-1]
    found = urls.lengths() >= len(FOLDER)
    for i, byte in enumerate(FOLDER):
        found &= urls.data[np.where(found, starts + i, 0)] == byte
    return found
