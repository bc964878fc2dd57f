"""The detector at the edge: a page in, what is known of it out. No Beam, one small process."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.reuse.settings import DetectionSettings
from beam_reuse.core.chunking import SHA1, Chunks, chunk_page, cuts_text, file_sha1
from beam_reuse.core.errors import UserError
from beam_reuse.core.finding import Finding, Learned, Match, Source
from beam_reuse.core.labels import LabelKind, source_name
from beam_reuse.core.nesting import check_nesting
from beam_reuse.core.nilsimsa import digests
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.core.shares import ONE, given_threshold
from beam_reuse.core.urls import BadUrl, canonical_url, name_page
from beam_reuse.io.crawl.payload import decode_text, find_charset, tokens_between
from beam_reuse.io.crawl.rows import utf8
from beam_reuse.io.labels.label_settings import agreed
from beam_reuse.io.labels.loading import load_labels, load_stops
from beam_reuse.io.labels.lookup import LabelLookup

if TYPE_CHECKING:
    from beam_reuse.io.labels.similar import SimilarLabels

KINDS = {kind.name.lower(): kind for kind in Kind}
_SHOWN_TEXT = 1000


@dataclass(frozen=True)
class _Known:
    """What a label says: its strongest source, how many there are, and whether one is on the
    domain of the page."""

    source_url: str | None
    sources: int
    own: bool


@dataclass(frozen=True)
class _Detail:
    """What a list says of a learned label beside its hash."""

    source_url: str
    bytes: int
    text: str | None


@dataclass(frozen=True)
class _Counted:
    """The file and the chunks of a page that count: no stop files and stop chunks."""

    payload: bytes
    file: NDArray
    chunks: Chunks
    position: NDArray[np.int64]
    sha1: NDArray


class Detector:
    """Tells of single pages which known files and chunks they hold, and whose.

        detector = Detector("brand.brl")
        finding = detector.check(page, "http://example.org/login")
        finding.flagged, finding.contains, finding.sources

    `labels` are one or more lists: compact files, Parquet, text, result folders; () is an
    empty one to learn into. Pages are cut as the lists tell; `chunks` and
    `stops.min_chunk_bytes` (0: as the lists tell) are for plain lists of hashes, and refused
    where they contradict; only a larger `min_chunk_bytes` does not, nor do more
    `min_chunk_tokens`. A page is flagged if its
    share of matching chunks is above `page_threshold`, it has `min_chunks` chunks or more, and
    `min_matching` distinct ones of them match. What a page shares with labels of its own
    registered domain does not count, unless `count_own`. The `matcher` nilsimsa finds chunks that
    are only similar to a label, too, with a score of `nilsimsa_threshold` or more: lists need
    digests then, and what was learned is found by its hash alone.

    Values are those of `run` with the same lists, settings and thresholds. Labels are
    mapped, not loaded: 10 million from a compact file open in under a second. A detector may
    be used by many threads, but must not learn meanwhile.
    """

    def __init__(
        self, labels: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *,
        stops: StopSettings | None = None, chunks: ChunkSettings | None = None,
        page_threshold: float = 0.0, min_chunks: int = 1, min_matching: int = 1,
        count_own: bool = False, matcher: str = "exact", nilsimsa_threshold: int = 115,
    ) -> None:
        self._rules = DetectionSettings(
            min_chunks=min_chunks, min_matching=min_matching, page_threshold=page_threshold,
            count_own=count_own, matcher=matcher, nilsimsa_thresholds=(nilsimsa_threshold,))
        several = [labels] if isinstance(labels, str | os.PathLike) else labels
        self._paths = tuple(os.fspath(path) for path in several)
        held, self._made_with = load_labels(self._paths)
        self._labels = LabelLookup(held)
        self._similar = _similar(self._paths, nilsimsa_threshold) if matcher == "nilsimsa" else None
        self.settings = agreed(self._made_with, chunks, stops or StopSettings())
        stops = stops or StopSettings()
        self._stops = {
            kind: load_stops(self.settings.chunks, stops, kind)
            for kind in (LabelKind.FILE, LabelKind.CHUNK)
        }
        self._threshold = given_threshold(page_threshold)
        self._learned: dict[tuple[LabelKind, bytes], _Detail] = {}

    def check(
        self, page: bytes | str, url: str = "", kind: str | Kind = "html", charset: str = "",
    ) -> Finding:
        """What is known of a page. `kind`: html, text, code or other (which has no chunks). `url`
        tells what is the page's own; without one nothing is, nor for a file's (`file:`).

        Text counts as its UTF-8 bytes. Any bytes will do. Cost: that of cutting and hashing
        the page, and some 100 µs. With labels of text (`--chunk-normalise text`) HTML is parsed:
        `charset` is the one that its header names (else it is found as `run` finds it), matches
        are places in the page's text, and `TooDeep` is raised for HTML that no parser should see.
        """
        counted = self._count(page, kind, charset)
        owner = "" if self._rules.count_own else _owner(url)
        files, _ = self._known(LabelKind.FILE, counted.file, owner)
        labels, scores = self._labels_of(counted)
        known, domains = self._known(LabelKind.CHUNK, labels, owner)
        matches = tuple(_matches(counted, labels, known, scores))
        of_others = [counted.sha1[at].tobytes() for at, label in known.items() if not label.own]
        chunks, matching = len(counted.position), len(of_others)
        distinct, file = len(set(of_others)), files.get(0)
        return Finding(
            url=_canonical(url), chunks=chunks,
            stop_chunks=len(counted.chunks) - chunks, matching=matching,
            own_matching=len(matches) - matching, distinct_matching=distinct,
            contains=matching / chunks if chunks else None,
            file_match=file is not None and not file.own,
            own_file=file is not None and file.own,
            file_source=None if file is None else file.source_url,
            flagged=chunks >= self._rules.min_chunks and distinct >= self._rules.min_matching
            and matching * ONE // chunks > self._threshold,
            matches=matches,
            sources=tuple(Source(name, count) for name, count in sorted(
                domains.items(), key=lambda item: (-item[1], item[0]))),
        )

    def learn(
        self, page: bytes | str, url: str, kind: str | Kind = "html", charset: str = "",
    ) -> Learned:
        """Trust a page: its file and chunks that are no stop chunks become labels of `url`. Its
        `kind` and `charset` are as in `check`.

        Trust on first use: what is a label already stays whose it was, so a copy of a known
        page can be trusted later without taking it over, and learning twice adds nothing.
        Further pages of a known host add what is new on them. UserError if `url` is none.
        """
        try:
            source = canonical_url(url)
        except BadUrl as error:
            raise UserError(f"{url!r} is no URL ({error}): a trusted page needs one as its "
                            "source.") from None
        counted = self._count(page, kind, charset)
        files, _ = self._known(LabelKind.FILE, counted.file)
        known, _ = self._known(LabelKind.CHUNK, counted.sha1)
        if len(counted.file) and not files:
            self._learned[LabelKind.FILE, counted.file[0].tobytes()] = _Detail(
                source, len(counted.payload), None)
        before = len(self._learned)
        hashes = counted.sha1
        for at in range(len(hashes)):
            if at not in known:
                self._learned.setdefault(
                    (LabelKind.CHUNK, hashes[at].tobytes()),
                    self._chunk_detail(counted, at, source))
        return Learned(
            url=source, file=bool(len(counted.file)) and not files,
            chunks=len(self._learned) - before,
            known=len({hashes[at].tobytes() for at in known}))

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write all labels, learned ones too, with their settings; returns how many.

        `.brl` gives a compact list, `.parquet` a table. The file appears whole, also where it
        replaces one this detector was made from.
        """
        from beam_reuse.io.labels.writing import write_labels

        settings = self._made_with or (self.settings if self._learned else None)
        return write_labels(os.fspath(path), self._batches(), settings)

    def _count(self, page: bytes | str, kind: str | Kind, charset: str) -> _Counted:
        payload, kind, text, found = _payload(page), _kind(kind), None, "utf-8"
        if self.settings.chunks.normalise == "text" and not isinstance(page, str):
            found = find_charset(payload, kind, charset)
        if cuts_text(kind, self.settings.chunks):
            check_nesting(payload, found)
            text = decode_text(payload, found)
        chunks = chunk_page(payload, kind, self.settings.chunks, text)
        counts = chunks.length >= self.settings.min_chunk_bytes
        counts &= ~self._stops[LabelKind.CHUNK].contain(chunks.sha1)
        if self.settings.min_chunk_tokens:
            places = chunks.start.astype(np.int64), chunks.end.astype(np.int64)
            tokens = (tokens_between(payload, *places, found) if text is None
                      else tokens_between(chunks.text, *places, "utf-8"))
            counts &= tokens >= self.settings.min_chunk_tokens
        file = np.frombuffer(file_sha1(payload), "V20")
        file = file[~self._stops[LabelKind.FILE].contain(file)]
        position = np.flatnonzero(counts)
        return _Counted(payload, file, chunks, position, chunks.sha1[position])

    def _labels_of(self, counted: _Counted) -> tuple[NDArray, dict[int, int]]:
        """The hashes under which chunks are looked up: their own, but that of the most similar
        label where they are no labels themselves; and the scores of these, by place."""
        if self._similar is None:
            return counted.sha1, {}
        known, _ = self._known(LabelKind.CHUNK, counted.sha1)
        rest = np.array([at for at in range(len(counted.sha1)) if at not in known], np.int64)
        chunks, place = counted.chunks, counted.position[rest]
        at, sha1, scores = self._similar.best(digests(
            chunks.text or counted.payload, chunks.start[place], chunks.end[place],
            self.settings.chunks))
        labels = counted.sha1.copy()
        labels[rest[at]] = sha1
        return labels, dict(zip(rest[at].tolist(), scores, strict=True))

    def _known(
        self, kind: LabelKind, hashes: NDArray, owner: str = "",
    ) -> tuple[dict[int, _Known], dict[str, int]]:
        """Which of `hashes` are labels, by place; and how many of those that are not the `owner`'s
        each domain has."""
        hits = self._labels.find(hashes, kind, owner)
        found = {at: _Known(source, number, own) for at, source, number, own in zip(
            hits.at.tolist(), hits.sources, hits.numbers, hits.own, strict=True)}
        domains = dict(hits.by_domain)
        if self._learned:
            for at in range(len(hashes)):
                detail = self._learned.get((kind, hashes[at].tobytes()))
                if detail is not None:
                    name = source_name(detail.source_url)
                    found[at] = _Known(detail.source_url, 1, name == owner)
                    if name != owner:
                        domains[name] = domains.get(name, 0) + 1
        return found, domains

    def _chunk_detail(self, counted: _Counted, at: int, source: str) -> _Detail:
        place, chunks = counted.position[at], counted.chunks
        chunk = (chunks.text or counted.payload)[chunks.start[place]:chunks.end[place]]
        if self.settings.chunks.squeezes:
            chunk = b" ".join(chunk.split())
        return _Detail(source, len(chunk), chunk.decode("utf-8", "replace")[:_SHOWN_TEXT])

    def _batches(self) -> Iterator[Any]:
        """All labels as batches: those of the lists, then the learned ones in their order."""
        import pyarrow as pa

        from beam_reuse.io.labels.batches import label_batch
        from beam_reuse.io.labels.lists import read_list

        for path in self._paths:
            yield from read_list(path)
        if self._learned:
            details = self._learned.values()
            yield label_batch(
                np.frombuffer(b"".join(sha1 for _, sha1 in self._learned), "V20"),
                np.array([kind for kind, _ in self._learned], np.uint8),
                source_url=pa.array([detail.source_url for detail in details], pa.string()),
                domains=pa.array([1] * len(details), pa.int64()),
                bytes=pa.array([detail.bytes for detail in details], pa.int64()),
                text=pa.array([detail.text for detail in details], pa.string()))


def _similar(paths: Sequence[str], threshold: int) -> "SimilarLabels":
    # Arrow is not needed for compact lists, and without it the process is a third smaller.
    from beam_reuse.io.labels.similar import SimilarLabels

    return SimilarLabels(paths, threshold)


def _matches(counted: _Counted, labels: NDArray, found: dict[int, _Known],
             scores: dict[int, int]) -> Iterable[Match]:
    ats = sorted(found)
    places = counted.position[ats]
    digits = labels[ats].tobytes().hex()
    width = 2 * SHA1.itemsize
    columns = (ats, places.tolist(), counted.chunks.start[places].tolist(),
               counted.chunks.end[places].tolist())
    for i, (at, place, start, end) in enumerate(zip(*columns, strict=True)):
        known = found[at]
        yield Match(place, start, end, digits[i * width:(i + 1) * width], known.source_url,
                    known.sources, known.own, scores.get(at))


def _kind(kind: str | Kind) -> Kind:
    if isinstance(kind, Kind):
        return kind
    if kind not in KINDS:
        raise UserError(f"kind {kind!r} is not known; it must be one of {', '.join(KINDS)}.")
    return KINDS[kind]


def _payload(page: bytes | str) -> bytes:
    return utf8(page) if isinstance(page, str) else page


def _owner(url: str) -> str:
    """The domain whose content is the page's own; '' for none. Folders own nothing."""
    try:
        return "" if url.lower().startswith("file:") else name_page(url).domain
    except BadUrl:
        return ""


def _canonical(url: str) -> str:
    """The key of a page in result tables; what is no URL stays as it is."""
    try:
        return canonical_url(url)
    except BadUrl:
        return url
