"""Which labels say whose content it is; no Beam.

A chunk on several domains of the originals, or on many hosts elsewhere, is a framework's markup or
a notice of a provider. So rows *about* labels travel with the rows of labels: a domain that a label
is on, or a host of the background. Sorted, they come before the label's own rows, and all is
decided while these pass by: nothing is held but a row, however many pages have a label.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.reuse.candidates import KEY, hash_rows
from beam_reuse.analyses.reuse.label_kernels import DIGEST, LABEL_ROWS
from beam_reuse.analyses.reuse.settings import IN_BACKGROUND, ON_SEVERAL_DOMAINS
from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.distinct import distinct_strings
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.reduce import Reduction
from beam_reuse.columnar.schema import KIND, NUMBER, TEXT, columns, gives
from beam_reuse.core.labels import LabelKind, source_name
from beam_reuse.pages.objects import Objects
from beam_reuse.rows.results import Count, Tagged

# `listed` is 0 for rows about labels; these have a `source` (a domain) and perhaps a `host`.
ROWS = columns(LABEL_ROWS, listed=KIND, source=TEXT, host=TEXT, labelled=NUMBER, original=NUMBER)
ORDER = ("listed", "source", "host", "source_url")
_MOST = {name: "max" for name in ("domains", "bytes", "text", "nilsimsa", "labelled", "original")}
_ONE_OF_EACH = Reduction((*KEY, *ORDER), _MOST)
_HOSTS = {"hosts": "sum", "example": "max"}
_BY_DOMAIN = Reduction((*KEY, "listed", "source", "source_url"), {**_MOST, **_HOSTS})
_BY_LABEL = Reduction((*KEY, "listed", "source_url"), {**_MOST, "original": "sum", **_HOSTS})

LEFT_OUT = "left out"
REASONS = (ON_SEVERAL_DOMAINS, IN_BACKGROUND)
LEFT_OUT_ROWS = columns(LABEL_ROWS, reason=KIND, example=TEXT)


@gives(ROWS)
def with_domains(labels: Block) -> Iterator[Block]:
    """Label rows, and rows about them: on which domain each is."""
    nothing = _empty(len(labels))
    zeros = np.zeros(len(labels), np.int64)
    yield labels.with_columns(listed=np.ones(len(labels), np.uint8), source=nothing, host=nothing,
                              labelled=zeros, original=zeros)
    urls = labels.maybe("source_url")
    some, which = distinct_strings(urls.values)
    names = VarBytes.from_list(map(_domain, some.to_list())).take(which)
    told = np.maximum(labels.maybe("domains").filled(0), urls.valid)
    yield _ONE_OF_EACH(_about(labels.select(KEY), names, nothing).with_columns(
        domains=Maybe(told, told > 0), labelled=zeros + 1,
        original=(names.lengths() > 0).astype(np.int64)))


@gives(ROWS)
def on_hosts(parts: Block, objects: Objects, labelled: KeyFilter) -> Iterator[Block]:
    """Rows about the chunks of pages that `labelled`, a filter of labels, may hold: on which host
    and domain each is."""
    for counted in objects.chunks_of(parts, ("host", "domain"), places=False):
        chunks, pages = counted.rows, counted.rows.pages
        rows = hash_rows(LabelKind.CHUNK, chunks.sha1)
        at = np.flatnonzero(labelled.may_hold(rows))
        page = chunks.per_chunk(np.arange(len(pages)))[at]
        yield _ONE_OF_EACH(_about(rows.take(at), *(
            pages.rows.strings(name).take(page) for name in ("domain", "host"))))


@gives(LABEL_ROWS, {LEFT_OUT: LEFT_OUT_ROWS})
def distinctive(
    slabs: Iterable[Block], all_chunks: bool, background_hosts: int,
) -> Iterator[Block | Tagged | Count]:
    """Rows in order of KEY and ORDER -> one row per label and source, with `domains`: how many
    registered domains its sources are on, or more where a list knows of more. Without `all_chunks`
    no chunks whose sources are on several, nor those on more than `background_hosts` hosts of other
    domains; these are counted, and given as LEFT_OUT."""
    last: list[Block] = []  # the row about the label that was last
    for rows in _counted(slabs):
        about = rows.array("listed") == 0
        judged = _judged(rows.take(about), all_chunks, background_hosts)
        for number, name in enumerate(REASONS, 1):
            which = (judged.array("reason") == number) & (judged.array("labelled") > 0)
            yield Count(name, int(which.sum()))
        every = Block.concat([*last, judged])
        last = [every.slice(len(every) - 1, len(every))]
        label = every.take((np.cumsum(about) - 1 + len(every) - len(judged))[~about])
        labels = rows.take(~about).select(LABEL_ROWS.names).with_columns(domains=label["domains"])
        out = label.array("reason") > 0
        yield labels.take(~out)
        yield Tagged(LEFT_OUT, labels.with_columns(
            **{name: label[name] for name in ("reason", "example")}).take(out))


def _judged(about: Block, all_chunks: bool, background_hosts: int) -> Block:
    """Rows about labels, one each -> on how many domains they are, and the `reason` for which they
    are left out: the number of one of REASONS, 0 for none."""
    on, hosts = about.array("original"), about.array("hosts")
    found = np.maximum(on, about.maybe("domains").filled(0))
    reason = np.where(on > 1, 1, np.where(hosts > background_hosts, 2, 0))
    reason[(about.array("kind") != LabelKind.CHUNK) | all_chunks] = 0
    return about.select(("labelled", "example")).with_columns(
        domains=Maybe(found, found > 0), reason=reason.astype(np.uint8))


def _counted(slabs: Iterable[Block]) -> Iterator[Block]:
    """One row about each label, then its own: of `original` domains and of `hosts` elsewhere, with
    an `example` of these."""
    once = (rows.with_columns(hosts=(rows.strings("host").lengths() > 0).astype(np.int64),
                              example=rows["host"]) for rows in _ONE_OF_EACH.merge(slabs))
    return _BY_LABEL.merge(_elsewhere(rows) for rows in _BY_DOMAIN.merge(once))


def _elsewhere(rows: Block) -> Block:
    """Rows by domain, of which those of the originals have no hosts elsewhere."""
    own = rows.array("original") > 0
    hosts = VarBytes.concat([rows.strings("example"), _empty(1)])
    return rows.with_columns(hosts=np.where(own, 0, rows.array("hosts")), example=hosts.take(
        np.where(own, len(rows), np.arange(len(rows)))))


def _about(hashes: Block, domains: VarBytes, hosts: VarBytes) -> Block:
    """Rows about labels."""
    count = len(hashes)
    zeros: NDArray[np.int64] = np.zeros(count, np.int64)
    return hashes.with_columns(
        source_url=Maybe.nulls(count), domains=Maybe.nulls(count, np.int64),
        bytes=Maybe.nulls(count, np.int64), text=Maybe.nulls(count),
        nilsimsa=Maybe.nulls(count, DIGEST), listed=np.zeros(count, np.uint8), source=domains,
        host=hosts, labelled=zeros, original=zeros)


def _domain(source: bytes) -> bytes:
    """Whose a source is; empty for none, and for a page of a folder, which has no domain."""
    return b"" if source.startswith(b"file:") else source_name(source).encode()


def _empty(count: int) -> VarBytes:
    return VarBytes(np.zeros(count + 1, np.int64), np.zeros(0, np.uint8))
