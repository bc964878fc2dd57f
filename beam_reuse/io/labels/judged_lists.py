"""Judged sheets as stop lists: the hashes of rows that people have called benign."""

from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.labels import LabelKind
from beam_reuse.core.verdicts import Verdict
from beam_reuse.io.labels.batches import HEX_DIGITS, hashes_of_hex
from beam_reuse.io.labels.parquet_lists import KIND_NAMES
from beam_reuse.io.sheets import (
    LABEL,
    REASON,
    Row,
    Sheet,
    SheetError,
    named_columns,
    read_sheet,
    verdict_in,
)

SHA1, KIND = "sha1", "kind"
_HEAD = 1 << 16


@dataclass(frozen=True)
class JudgedList:
    """The distinct hashes ('V20') judged benign with their kinds; how many rows said so, were
    judged otherwise, and have no label."""

    hashes: NDArray
    kinds: NDArray[np.uint8]
    benign: int
    otherwise: int
    unlabelled: int


def is_judged_text(source: IO[bytes]) -> bool:
    """Whether a text file is a sheet: its first row names `label`, and `sha1` or `reason`. The
    file stays to be read."""
    names = named_columns(source.read(_HEAD))
    source.seek(0)
    return LABEL in names and bool({SHA1, REASON} & names)


def read_judged(path: str) -> JudgedList:
    """The rows of the sheet at `path` that are judged benign (a negative label).

    Refuses a sheet without hashes or without any label, a label that is no known word, and two
    rows that judge a hash differently. Memory: the sheet.
    """
    sheet = read_sheet(path, (SHA1, LABEL))
    found: dict[tuple[str, LabelKind], tuple[Verdict, int]] = {}
    counts = dict.fromkeys((None, *Verdict), 0)
    for row in sheet.rows:
        verdict = verdict_in(sheet, row)
        counts[verdict] += 1
        if verdict is None:
            continue
        key = _hash(sheet, row), _kind(sheet, row)
        known, number = found.setdefault(key, (verdict, row.number))
        if known is not verdict:
            raise SheetError(f"{sheet.path}: rows {number} and {row.number} judge {key[0]} "
                             "differently; keep one")
    if not found:
        raise SheetError(f"{sheet.path}: no row has a label yet, so none is benign; fill the "
                         f"column {LABEL} first")
    benign = [key for key, (verdict, _) in found.items() if verdict is Verdict.NEGATIVE]
    return JudgedList(
        hashes_of_hex("".join(sha1 for sha1, _ in benign).encode()),
        np.array([kind for _, kind in benign], np.uint8), counts[Verdict.NEGATIVE],
        counts[Verdict.POSITIVE] + counts[Verdict.UNDECIDED], counts[None])


def _hash(sheet: Sheet, row: Row) -> str:
    digits = row.cells.get(SHA1, "").strip().lower()
    if len(digits) != HEX_DIGITS or set(digits) - set("0123456789abcdef"):
        raise SheetError(f"{sheet.path}: row {row.number}: sha1 {digits[:60]!r} is no hash; it "
                         f"must have {HEX_DIGITS} hexadecimal digits, as `sample` writes it")
    return digits


def _kind(sheet: Sheet, row: Row) -> LabelKind:
    """What a hash is of: as a sheet of labels has it; else whatever it is of."""
    word = row.cells.get(KIND, "").strip() or "any"
    if word not in KIND_NAMES:
        raise SheetError(f"{sheet.path}: row {row.number}: kind {word!r} is none of "
                         f"{', '.join(KIND_NAMES)}")
    return KIND_NAMES[word]
