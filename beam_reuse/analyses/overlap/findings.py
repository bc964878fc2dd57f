"""What overlap says in the summary of a run."""

from collections import Counter
from collections.abc import Iterator

import pyarrow.compute as pc

from beam_reuse.analyses.overlap.definition import WHOLE, Chunking, page_threshold
from beam_reuse.analyses.overlap.schemas import (
    CRAWL_SAVINGS,
    EXACT_COPIES,
    PAGE_OVERLAP,
    SERVER_OVERLAP,
)
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.core.wording import counted, megabytes, percent
from beam_reuse.io.results.result import Result

PLACES_SHOWN = 5


def overlap(there: Result) -> Iterator[str]:
    """Pairs of pages and hosts, how much work they were, mirrors, and what a crawler can save."""
    noted = there.noted
    pages, hosts = (there.rows(schema) for schema in (PAGE_OVERLAP, SERVER_OVERLAP))
    copies = there.rows(EXACT_COPIES)
    yield (f"overlap: {counted(pages, 'pair')} of pages and {counted(hosts, 'pair')} of hosts; "
           f"{counted(copies, 'page')} in sets with the same lines")
    if made := noted.get("overlap-pairs-made", 0):
        shuffled = noted.get("overlap-pairs-shuffled")
        yield (f"pairs with a chunk in common: {made:,} made, "
               + (f"{shuffled:,} rows shuffled, " if shuffled is not None else "")
               + f"{noted.get('overlap-pairs-kept', 0):,} kept")
    frequent = noted.get("overlap-fingerprints-too-frequent", 0)
    if frequent:
        share = frequent / noted["overlap-fingerprints"]
        occurrences = noted["overlap-occurrences-too-frequent"] / noted["overlap-occurrences"]
        yield (f"crowds: {counted(frequent, 'chunk')} on more than "
               f"{counted(there.settings.get('max-df', 0), 'page')} (--max-df), "
               f"{percent(share, 2)} of all and {percent(occurrences, 2)} of all occurrences; "
               f"{counted(noted.get('overlap-pairs-not-compared', 0), 'pair')} not compared")
    yield from _related_hosts(there)
    yield from _savings(there)
    yield ""


def _related_hosts(there: Result) -> Iterator[str]:
    """Some mirrors, by any chunking: those that share most chunks by one of them. Hosts that
    share one chunk, of a page that is perhaps tiny, are not named but counted."""
    names = ("host_a", "host_b", "shared", "chunking", "relation")
    mirrors: list[tuple[int, str, str, str]] = []
    slight = 0
    for batch in there.batches(SERVER_OVERLAP, names):
        every = batch.filter(pc.equal(batch["relation"], "mirror"))
        rows = every.filter(pc.greater(every["shared"], 1)).to_pylist()
        slight += every.num_rows - len(rows)
        found = sorted([*mirrors, *((-row["shared"], row["host_a"], row["host_b"], row["chunking"])
                                    for row in rows)])
        best = {each[1:3]: each for each in reversed(found)}
        mirrors = sorted(best.values())[: PLACES_SHOWN + 1]
    for shared, a, b, chunking in mirrors[:PLACES_SHOWN]:
        yield f"  {a} and {b} are mirrors: they share {counted(-shared, 'chunk')} ({chunking})"
    if len(mirrors) > PLACES_SHOWN:
        yield "  and more: server_overlap has all"
    if slight:
        yield (f"  mirrors that share one chunk only, perhaps that of a tiny page: "
               f"{counted(slight, 'row')} of server_overlap")


def _savings(there: Result) -> Iterator[str]:
    """How many pages a crawler can do without, by each chunking, and in what sense."""
    names = ("pages", "redundant_pages", "bytes", "redundant_bytes")
    total: dict[str, Counter[str]] = {}
    for batch in there.batches(CRAWL_SAVINGS, ("chunking", *names)):
        sums = batch.group_by("chunking").aggregate([(name, "sum") for name in names])
        for row in sums.to_pylist():
            total.setdefault(row["chunking"], Counter()).update(
                {name: row[f"{name}_sum"] for name in names})
    listed = False
    for chunking in there.settings.get("overlap-chunkings", ()):
        found = total.get(chunking)
        if found:
            yield (f"  {chunking}: {found['redundant_pages']:,} of "
                   f"{counted(found['pages'], 'page')} "
                   f"({percent(found['redundant_pages'] / found['pages'])}), "
                   f"{megabytes(found['redundant_bytes'])} of {megabytes(found['bytes'])}, "
                   f"{_redundant_by(there, chunking)}")
            listed |= found["redundant_pages"] > 0
    if listed:
        yield "  skippable lists them, each with the page that stays"


def _redundant_by(there: Result, chunking: str) -> str:
    """What makes a page redundant by a chunking."""
    given = there.settings.get("overlap-threshold", "auto")
    settings = OverlapSettings(tuple(there.settings["overlap-chunkings"]),
                               None if given == "auto" else tuple(given))
    if chunking == WHOLE:
        return "are exact copies of a page that stays"
    least = page_threshold(Chunking(chunking), settings)
    share = percent(there.settings.get("skip-containment", settings.skip))
    return (f"have {share} of their own lines on a page that stays and share "
            f"{counted(least, 'chunk')} with it, or are copies")
