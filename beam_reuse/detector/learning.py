"""Labels that a detector has learned, beside those of its lists. No Beam."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from beam_reuse.core.labels import LabelKind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.detector.cutting import Counted

_SHOWN_TEXT = 1000


@dataclass(frozen=True)
class Detail:
    """What a list says of a learned label beside its hash."""

    source_url: str
    bytes: int
    text: str | None


class LearnedLabels:
    """Learned labels by kind and hash, in the order in which they were learned. A label stays whose
    it was first."""

    def __init__(self) -> None:
        self._details: dict[tuple[LabelKind, bytes], Detail] = {}

    def __len__(self) -> int:
        return len(self._details)

    def get(self, kind: LabelKind, sha1: bytes) -> Detail | None:
        return self._details.get((kind, sha1))

    def add_file(self, counted: Counted, source: str) -> None:
        """The file of a page, of which there is one that counts."""
        self._details.setdefault((LabelKind.FILE, counted.file[0].tobytes()),
                                 Detail(source, len(counted.payload), None))

    def add_chunk(self, counted: Counted, at: int, source: str, settings: ChunkSettings) -> None:
        """A chunk of a page that counts."""
        key = LabelKind.CHUNK, counted.sha1[at].tobytes()
        if key not in self._details:
            chunk = counted.chunk(at, settings)
            self._details[key] = Detail(
                source, len(chunk), chunk.decode("utf-8", "replace")[:_SHOWN_TEXT])

    def batches(self) -> Iterator[Any]:
        """The labels as batches, as lists have them."""
        import pyarrow as pa

        from beam_reuse.io.labels.batches import label_batch

        if not self._details:
            return
        details = self._details.values()
        yield label_batch(
            np.frombuffer(b"".join(sha1 for _, sha1 in self._details), "V20"),
            np.array([kind for kind, _ in self._details], np.uint8),
            source_url=pa.array([detail.source_url for detail in details], pa.string()),
            domains=pa.array([1] * len(details), pa.int64()),
            bytes=pa.array([detail.bytes for detail in details], pa.int64()),
            text=pa.array([detail.text for detail in details], pa.string()))
