"""The detector at the edge: a page in, what is known of it out. No Beam, one small process."""

import inspect
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.decontaminate.settings import DecontaminateSettings
from beam_reuse.analyses.reuse.settings import DetectionSettings
from beam_reuse.core.chunking import SHA1
from beam_reuse.core.errors import UserError
from beam_reuse.core.finding import Finding, Learned, Match, SourceDomain
from beam_reuse.core.first_use import FirstUseSettings
from beam_reuse.core.labels import LabelKind, source_name
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import LEXBOR, ChunkSettings, StopSettings
from beam_reuse.core.shares import ONE, given_threshold
from beam_reuse.core.urls import BadUrl, canonical_url, name_page
from beam_reuse.detector.cutting import Counted, Cutter, one_by_one
from beam_reuse.detector.first_use import CUT, FirstUse
from beam_reuse.detector.learning import LearnedLabels
from beam_reuse.io.labels.label_settings import agreed
from beam_reuse.io.labels.loading import gram_lists_among, load_labels
from beam_reuse.io.labels.lookup import LabelLookup

if TYPE_CHECKING:
    from beam_reuse.detector.items import ItemLabels
    from beam_reuse.io.labels.similar import SimilarLabels


LISTS, FIRST_USE = "lists", "first-use"


@dataclass(frozen=True)
class _Known:
    """What a label says: its strongest source, how many there are, and whether one is on the
    domain of the page."""

    source_url: str | None
    sources: int
    own: bool


class Detector:
    """Finds which known files and chunks single pages hold, and whose these are.

    >>> detector = Detector("labels.txt")
    >>> page = "<div>Home Contact Imprint</div><p>and something new"
    >>> finding = detector.check(page, "http://example.org/login")
    >>> finding.flagged, finding.matching, finding.contains
    (True, 1, 0.5)

    `labels` are one or more lists: compact files, Parquet, text, result folders; () is an
    empty one to learn into. Lists of gram labels (`labels --grams`) are looked for beside them: the
    page is `contaminated` if it has `min_share` of an item's grams or more.
    Pages are cut as the lists say; `chunks` and
    `stops.min_chunk_bytes` (0: as the lists say) are for plain lists of hashes, and refused
    where they contradict; only a larger `min_chunk_bytes` does not, nor do more
    `min_chunk_tokens`. A page is flagged if its
    share of matching chunks is above `page_threshold`, it has `min_chunks` chunks or more, and
    `min_matching` distinct ones of them match. What a page shares with labels of its own
    registered domain does not count, unless `count_own`. The `matcher` nilsimsa finds chunks that
    are only similar to a label, too, with a score of `nilsimsa_threshold` or more: lists need
    digests then, and what was learned is found by its hash alone.

    With `trust="first-use"` there are no lists: `labels` is a store that learns by itself whose
    login pages there are, `first_use` its settings, findings have a `first_use` verdict, and
    `stops` has only lists (docs/edge.md). `detector.first_use` joins and forgets domains.
    `parser` is what reads HTML where its text matters; html5lib is the slow reference.

    Values are those of `run` with the same lists, settings and thresholds. Labels are
    mapped, not loaded: 10 million from a compact file open in under a second. A detector may
    be used by many threads, but must not learn meanwhile.
    """

    def __init__(
        self, labels: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *,
        stops: StopSettings | None = None, chunks: ChunkSettings | None = None,
        page_threshold: float = 0.0, min_chunks: int = 1, min_matching: int = 1,
        count_own: bool = False, matcher: str = "exact", nilsimsa_threshold: int = 115,
        trust: str = LISTS, first_use: FirstUseSettings | None = None,
        min_share: float = DecontaminateSettings.min_share, parser: str = LEXBOR,
    ) -> None:
        self._first_use = None
        if trust != LISTS:
            _refuse_rules_of_lists(trust, page_threshold=page_threshold, min_chunks=min_chunks,
                                   min_matching=min_matching, count_own=count_own, matcher=matcher,
                                   chunks=chunks)
            self._first_use = FirstUse(_only_store(labels), first_use, stops, parser)
            labels, chunks = (), CUT.chunks
            stops = StopSettings(CUT.min_chunk_bytes, min_chunk_tokens=CUT.min_chunk_tokens)
        self._rules = DetectionSettings(
            min_chunks=min_chunks, min_matching=min_matching, page_threshold=page_threshold,
            count_own=count_own, matcher=matcher, nilsimsa_thresholds=(nilsimsa_threshold,))
        several = [labels] if isinstance(labels, str | os.PathLike) else labels
        grams, self._paths = gram_lists_among([os.fspath(path) for path in several])
        self._items = _items(grams, parser) if grams else None
        self._min_share = DecontaminateSettings(min_share=min_share).min_share
        held, self._made_with = load_labels(self._paths)
        self._labels = LabelLookup(held)
        self._similar = _similar(self._paths, nilsimsa_threshold) if matcher == "nilsimsa" else None
        stops = stops or StopSettings()
        self.settings = agreed(self._made_with, chunks, stops)
        self._cutter = Cutter(self.settings, stops, parser=parser)
        self._threshold = given_threshold(page_threshold)
        self._learned = LearnedLabels()

    def check(
        self, page: bytes | str, url: str = "", kind: str | Kind = "html", charset: str = "",
    ) -> Finding:
        """What is known of a page. `kind`: html, text, code or other (which has no chunks). `url`
        decides what is the page's own; without one nothing is, nor for a file's (`file:`).

        Text counts as its UTF-8 bytes. Any bytes will do. Cost: that of cutting and hashing
        the page, and some 100 µs. With labels of text (`--chunk-normalise text`) HTML is parsed:
        `charset` is the one that its header names (else it is found as `run` finds it), matches
        are places in the page's text, and `TooDeep` is raised for HTML that no parser should see.
        """
        if self._first_use is not None:
            return self._first_use.check(page, url, kind, charset)
        counted = self._cutter.count(page, kind, charset)
        owner = "" if self._rules.count_own else _owner(url)
        files, _ = self._known(LabelKind.FILE, counted.file, owner)
        labels, scores = self._labels_of(counted)
        known, domains = self._known(LabelKind.CHUNK, labels, owner)
        matches = tuple(_matches(counted, labels, known, scores))
        of_others = [counted.sha1[at].tobytes() for at, label in known.items() if not label.own]
        chunks, matching = len(counted.position), len(of_others)
        distinct, file = len(set(of_others)), files.get(0)
        items = None if self._items is None else self._items.find(
            counted.payload, counted.kind, "utf-8" if isinstance(page, str) else charset)
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
            sources=tuple(SourceDomain(name, count) for name, count in sorted(
                domains.items(), key=lambda item: (-item[1], item[0]))),
            items=items, contaminated=None if items is None else any(
                item.share >= self._min_share for item in items),
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
        if self._first_use is not None:
            found = self._first_use.trust(page, url, kind, charset)
            assert found.first_use is not None
            return Learned(found.url, False, found.first_use.new,
                           len({match.sha1 for match in found.matches}))
        try:
            source = canonical_url(url)
        except BadUrl as error:
            raise UserError(f"{url!r} is no URL ({error}): a trusted page needs one as its "
                            "source.") from None
        counted = self._cutter.count(page, kind, charset)
        files, _ = self._known(LabelKind.FILE, counted.file)
        known, _ = self._known(LabelKind.CHUNK, counted.sha1)
        new_file = bool(len(counted.file)) and not files
        if new_file:
            self._learned.add_file(counted, source)
        before = len(self._learned)
        for at in range(len(counted.sha1)):
            if at not in known:
                self._learned.add_chunk(counted, at, source, self.settings.chunks)
        return Learned(
            url=source, file=new_file, chunks=len(self._learned) - before,
            known=len({counted.sha1[at].tobytes() for at in known}))

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write all labels, learned ones too, with their settings; returns how many.

        `.brl` gives a compact list, `.parquet` a table. The file appears whole, also where it
        replaces one this detector was made from.
        """
        if self._first_use is not None:
            raise UserError(f"{path}: the store {self._first_use.store.path} is saved by itself, "
                            "and is no list of labels.")
        from beam_reuse.io.labels.writing import write_labels

        settings = self._made_with or (self.settings if self._learned else None)
        return write_labels(os.fspath(path), self._batches(), settings)

    @property
    def first_use(self) -> FirstUse:
        """What learns by itself; UserError for a detector of lists."""
        if self._first_use is None:
            raise UserError(f"this detector has lists of labels; one with a store is made by "
                            f"Detector(store, trust={FIRST_USE!r}).")
        return self._first_use

    def _labels_of(self, counted: Counted) -> tuple[NDArray, dict[int, int]]:
        """The hashes under which chunks are looked up: their own, but that of the most similar
        label where they are no labels themselves; and the scores of these, by place."""
        if self._similar is None:
            return counted.sha1, {}
        known, _ = self._known(LabelKind.CHUNK, counted.sha1)
        rest = np.array([at for at in range(len(counted.sha1)) if at not in known], np.int64)
        at, sha1, scores = self._similar.best(counted.digests(rest, self.settings.chunks))
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
            for at, sha1 in enumerate(one_by_one(hashes)):
                detail = self._learned.get(kind, sha1)
                if detail is not None:
                    name = source_name(detail.source_url)
                    found[at] = _Known(detail.source_url, 1, name == owner)
                    if name != owner:
                        domains[name] = domains.get(name, 0) + 1
        return found, domains

    def _batches(self) -> Iterator[Any]:
        """All labels as batches: those of the lists, then the learned ones in their order."""
        from beam_reuse.io.labels.lists import read_list

        for path in self._paths:
            yield from read_list(path)
        yield from self._learned.batches()


def _refuse_rules_of_lists(trust: str, **given: Any) -> None:
    """Refuse what says nothing where there are no lists."""
    if trust != FIRST_USE:
        raise UserError(f"trust {trust!r} is not known; it must be {LISTS} or {FIRST_USE}.")
    usual = inspect.signature(Detector.__init__).parameters
    wrong = [name for name, value in given.items() if value != usual[name].default]
    if wrong:
        raise UserError(f"{' and '.join(wrong)}: not with trust={FIRST_USE!r}, whose rules are "
                        "those of first_use=FirstUseSettings(...).")


def _only_store(labels: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> str:
    if not isinstance(labels, str | os.PathLike):
        raise UserError(f"trust={FIRST_USE!r} takes one store, the path of a file.")
    return os.fspath(labels)


def _items(paths: Sequence[str], parser: str) -> "ItemLabels":
    # Arrow, too, is needed for these alone.
    from beam_reuse.detector.items import ItemLabels

    return ItemLabels(paths, parser)


def _similar(paths: Sequence[str], threshold: int) -> "SimilarLabels":
    # Arrow is not needed for compact lists, and without it the process is a third smaller.
    from beam_reuse.io.labels.similar import SimilarLabels

    return SimilarLabels(paths, threshold)


def _matches(counted: Counted, labels: NDArray, found: dict[int, _Known],
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
