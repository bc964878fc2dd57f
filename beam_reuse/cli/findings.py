"""What a run found, in a few lines for its summary. Tables are read in batches."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from beam_reuse.cli.progress import counted, megabytes, percent
from beam_reuse.core.discovery import auto_threshold
from beam_reuse.core.overlap import WHOLE, Chunking, page_threshold
from beam_reuse.core.settings import SWEPT, OverlapSettings, QuiltSettings
from beam_reuse.io.results import tables
from beam_reuse.io.results.manifest import Manifest
from beam_reuse.io.results.scan import TableScan

FILES_SHOWN, CHUNKS_SHOWN, PLACES_SHOWN, DEEPEST = 3, 5, 5, 20
_TEXT_WIDTH = 60
SHORT = 100
QUILTS_SHOWN = 3
_VARIANTS = {"any": "sources anywhere", "foreign": "sources on other domains",
             "ip": "sources on other domains and addresses"}


def findings(
    manifest: Manifest, folder: str, measured: Mapping[str, int] | None = None,
) -> Iterator[str]:
    """What is copied most, where known content was found, and a hint where there was nothing;
    of what was `measured`, how much work the pairs of overlap were."""
    if manifest.accounting.records and not manifest.accounting.pages:
        yield "No record became a page: the reasons above say why."
        yield ""
    there = _Result(manifest, folder)
    if there.has(tables.FREQUENT_CHUNKS):
        yield from _most_copied(there)
    if there.has(tables.PAGE_REUSE):
        yield from _reuse(there)
    if there.has(tables.NILSIMSA_SWEEP):
        yield from _sweep(there)
    if there.has(tables.NEAR_DUPLICATES):
        yield from _near_duplicates(there)
    if there.has(tables.CRAWL_SAVINGS):
        yield from _overlap(there, {**manifest.accounting.noted, **(measured or {})})
    if there.has(tables.QUILTS):
        yield from _quilts(there)


class _Result:
    """The tables of a result, a batch of some columns at a time."""

    def __init__(self, manifest: Manifest, folder: str) -> None:
        self.settings, self._parts, self._folder = manifest.settings, manifest.tables(), folder
        self._thresholds = manifest.thresholds

    def has(self, schema: tables.TableSchema) -> bool:
        return schema.name in self._parts

    def rows(self, schema: tables.TableSchema) -> int:
        return sum(part.rows for part in self._parts[schema.name])

    def batches(self, schema: tables.TableSchema, columns: Sequence[str]) -> Iterator[pa.Table]:
        for batch in TableScan(self._folder, schema.name).batches(list(columns)):
            yield pa.Table.from_batches([batch])

    def top(self, schema: tables.TableSchema, by: str, n: int, columns: Sequence[str],
            keep: str = "") -> list[dict[str, Any]]:
        """The `n` rows with the greatest `by`, ties to the smaller first column; with `keep`
        only rows where that column is true."""
        order = [(by, "descending"), (columns[0], "ascending")]
        best = schema.arrow().empty_table().select([*columns])
        for batch in self.batches(schema, columns):
            some = batch.filter(batch[keep]) if keep else batch
            best = pa.concat_tables([best, some]).sort_by(order).slice(0, n)
        return best.to_pylist()

    def above(self, what: str) -> str:
        """The share above which pages or directories were flagged."""
        threshold = self._thresholds.get(what)
        if threshold is None:
            return ""
        never = ", so none can be" if threshold >= 1 else ""
        return f" (share above {threshold:.4g}{never})"

    @property
    def is_unnarrowed(self) -> bool:
        """Whether chunks of any length, and copies within a site, were looked at."""
        return (self.settings.get("min-chunk-bytes"), self.settings.get("min-hosts")) == (0, 1)

    def count(self, schema: tables.TableSchema, column: str) -> int:
        """The sum of `column`, which is how many rows are true in one of flags."""
        return sum(pc.sum(batch[column]).as_py() or 0 for batch in self.batches(schema, [column]))


def _most_copied(there: _Result) -> Iterator[str]:
    if there.rows(tables.FREQUENT_FILES):
        yield f"most copied files ({_selection(there, 'file')}):"
        for row in there.top(tables.FREQUENT_FILES, "occurrences", FILES_SHOWN,
                             ("sha1", "occurrences", "hosts", "first_url")):
            yield f"  {_times(row)}: {row['first_url']}"
        yield ""
    found = there.rows(tables.FREQUENT_CHUNKS)
    if not found:
        across = there.settings.get("min-hosts", 1)
        where = f" on {across:,} hosts or more (--min-hosts)" if across > 1 else ""
        yield (f"No chunk occurs more than once{where}." if there.settings["top"] else
               f"No chunk occurs {_selection(there, 'chunk')}{where}; --chunk-threshold lowers "
               "the bar.")
        yield ""
        return
    yield f"most copied chunks ({_selection(there, 'chunk')}):"
    shown = there.top(tables.FREQUENT_CHUNKS, "occurrences", CHUNKS_SHOWN,
                      ("sha1", "occurrences", "hosts", "text", "bytes"))
    for row in shown:
        yield f"  {_times(row)}: {_short(row['text'])}"
    if there.is_unnarrowed and 2 * sum(row["bytes"] < SHORT for row in shown) > len(shown):
        yield (f"Short chunks are often mere markup: --min-chunk-bytes {SHORT} --min-hosts 2 shows "
               "passages that are copied from site to site.")
    yield ""


def _reuse(there: _Result) -> Iterator[str]:
    pages, places = (there.count(schema, "flagged")
                     for schema in (tables.PAGE_REUSE, tables.NEIGHBOURHOODS))
    lists = [name.split(" sha256:")[0] for name in there.settings.get("labels", ())]
    yield (f"known content ({'labels of ' + ', '.join(lists) if lists else 'what discovery found'}"
           f") in {counted(there.rows(tables.MATCHED_CHUNKS), 'chunk')} and "
           f"{counted(there.rows(tables.MATCHED_FILES), 'file')}")
    if stopped := there.count(tables.PAGE_REUSE, "stop_chunks"):
        yield f"{counted(stopped, 'stop chunk')} did not count"
    yield (f"flagged: {pages:,} of {counted(there.rows(tables.PAGE_REUSE), 'page')}"
           f"{there.above('page')}, {places:,} of {there.rows(tables.NEIGHBOURHOODS):,} "
           f"directories{there.above('neighbourhood')}{', most in' if places else ''}")
    value = "mean_contains" if there.settings.get("neighbourhood-score") == "mean" else "badness"
    found = there.top(tables.NEIGHBOURHOODS, "matching", PLACES_SHOWN * DEEPEST,
                      ("prefix", "matching", "chunks", "pages", value, "flagged"), keep="flagged")
    for row in _topmost(found)[:PLACES_SHOWN]:
        yield (f"  {row['prefix']}: {percent(row[value])} of its {counted(row['chunks'], 'chunk')} "
               f"on {counted(row['pages'], 'page')}")
    yield ""


def _topmost(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without directories that hold just what one above them holds."""
    kept: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: (-row["matching"], row["prefix"])):
        same = (row["matching"], row["chunks"], row["pages"])
        if not any(row["prefix"].startswith(above["prefix"])
                   and same == (above["matching"], above["chunks"], above["pages"])
                   for above in kept):
            kept.append(row)
    return kept


def _sweep(there: _Result) -> Iterator[str]:
    yield "Nilsimsa scores (at low thresholds every chunk is compared with every label):"
    for batch in there.batches(tables.NILSIMSA_SWEEP, tables.NILSIMSA_SWEEP.names):
        for row in batch.to_pylist():
            yield (f"  {row['threshold']:>4} or more: {row['matching']:,} chunks match, "
                   f"{row['matching'] - row['exact']:,} of them not exactly")
    yield ""


def _near_duplicates(there: _Result) -> Iterator[str]:
    pairs = there.rows(tables.NEAR_DUPLICATES)
    by = ", ".join(f"{there.count(tables.NEAR_DUPLICATES, name):,} by {name}"
                   for name in ("b", "c", "combined", "hybrid"))
    pages = there.rows(tables.KEEP)
    dropped = pages - there.count(tables.KEEP, "keep")
    yield f"near-duplicates: {counted(pairs, 'pair')}" + (f" ({by})" if pairs else "")
    sets = sum(
        pc.sum(pc.equal(batch["url"], batch["representative"])).as_py() or 0
        for batch in there.batches(tables.IDENTITY_SETS, tables.IDENTITY_SETS.names))
    superfluous = there.rows(tables.IDENTITY_SETS) - sets
    yield (f"{counted(sets, 'set')} of pages with the same words, "
           f"{counted(superfluous, 'page')} superfluous; "
           f"{dropped:,} of {counted(pages, 'page')} dropped by "
           f"{there.settings.get('keep-by', 'combined')} (keep)")
    yield ""


def _overlap(there: _Result, noted: Mapping[str, int]) -> Iterator[str]:
    pages, hosts = (there.rows(schema) for schema in (tables.PAGE_OVERLAP, tables.SERVER_OVERLAP))
    copies = there.rows(tables.EXACT_COPIES)
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
        yield (f"left out of pairing: {counted(frequent, 'chunk')} on more than "
               f"{counted(there.settings.get('max-df', 0), 'page')} (--max-df), "
               f"{percent(share, 2)} of all and {percent(occurrences, 2)} of all occurrences")
    yield from _related_hosts(there)
    yield from _savings(there)
    yield ""


def _related_hosts(there: _Result) -> Iterator[str]:
    """Some mirrors, by any chunking: those that share most chunks by one of them. Hosts that
    share one chunk, of a page that is perhaps tiny, are not named but counted."""
    names = ("host_a", "host_b", "shared", "chunking", "relation")
    mirrors: list[tuple[int, str, str, str]] = []
    slight = 0
    for batch in there.batches(tables.SERVER_OVERLAP, names):
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


def _savings(there: _Result) -> Iterator[str]:
    """How many pages a crawler can do without, by each chunking, and in what sense."""
    names = ("pages", "redundant_pages", "bytes", "redundant_bytes")
    total: dict[str, Counter[str]] = {}
    for batch in there.batches(tables.CRAWL_SAVINGS, ("chunking", *names)):
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


def _redundant_by(there: _Result, chunking: str) -> str:
    """What makes a page redundant by a chunking."""
    given = there.settings.get("overlap-threshold", "auto")
    settings = OverlapSettings(tuple(there.settings["overlap-chunkings"]),
                               None if given == "auto" else tuple(given))
    if chunking == WHOLE:
        return "are exact copies of a page that stays"
    least = page_threshold(Chunking(chunking), settings)
    return f"share {counted(least, 'chunk')} or more with a page that stays, or are copies"


def _quilts(there: _Result) -> Iterator[str]:
    """How many quilts there are, by combination if it was a sweep, and what they are made of."""
    pages: dict[tuple[float, ...], int] = dict.fromkeys(_combinations(there), 0)
    pivot = next(iter(pages))
    best = tables.QUILTS.arrow().empty_table()
    patch = linked = 0.0
    for batch in there.batches(tables.QUILTS, tables.QUILTS.names):
        for row in batch.group_by(SWEPT).aggregate([("url", "count")]).to_pylist():
            pages[tuple(row[name] for name in SWEPT)] += row["url_count"]
        for name, value in zip(SWEPT, pivot, strict=True):
            batch = batch.filter(pc.equal(batch[name], value))
        patch += pc.sum(batch["patch_grams"]).as_py() or 0
        linked += pc.sum(pc.round(pc.multiply(
            batch["patch_grams"], batch["linked_domain_share"]))).as_py() or 0
        best = pa.concat_tables([best, batch]).sort_by(
            [("sources", "descending"), ("url", "ascending")]).slice(0, QUILTS_SHOWN)
    yield (f"quilts ({_VARIANTS[there.settings['quilt-sources']]}): "
           f"{counted(pages[pivot], 'page')}"
           + (f", {percent(linked / patch)} of their patches linked to the domain they came from; "
              "most sources:" if patch else ""))
    for row in best.to_pylist():
        yield f"  {counted(row['sources'], 'source')}: {row['url']}"
    varied = [place for place, values in enumerate(zip(*pages, strict=True))
              if len(set(values)) > 1]
    for key, count in sorted(pages.items()) if varied else ():
        told = " ".join(f"--{SWEPT[place].replace('_', '-')} {key[place]:g}" for place in varied)
        yield f"  {count:>9,} with {told}{' (pivot)' if key == pivot else ''}"
    if there.settings["quilt-sources"] != "any" and not any(pages.values()) and _one_domain(there):
        yield "  all pages are of one domain: --quilt-sources any"
    yield ""


def _one_domain(there: _Result) -> bool:
    """Whether there are pages, all of one registered domain."""
    found: set[str] = set()
    if there.has(tables.PAGES):
        for batch in there.batches(tables.PAGES, ("domain",)):
            found.update(pc.unique(batch["domain"]).to_pylist())
            if len(found) > 1:
                break
    return len(found) == 1


def _combinations(there: _Result) -> list[tuple[Any, ...]]:
    """The combinations of the sweep, the pivot first."""
    lists: dict[str, Any] = {
        name: tuple(there.settings[name.replace("_", "-")]) for name in SWEPT}
    return QuiltSettings(**lists, sweep=there.settings["sweep"]).combinations()


def _times(row: dict[str, Any]) -> str:
    return f"{row['occurrences']:>9,} times on {counted(row['hosts'], 'host')}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _TEXT_WIDTH else text[: _TEXT_WIDTH - 1] + "…"


def _selection(there: _Result, kind: str) -> str:
    """By which rule files or chunks were listed."""
    if there.settings["top"]:
        return f"the {there.settings['top']:,} most frequent"
    threshold = there.settings[f"{kind}-threshold"]
    if threshold != "auto":
        return f"more than {counted(threshold, 'time')}"
    total = 0
    for batch in there.batches(tables.FREQUENCY_HISTOGRAM, tables.FREQUENCY_HISTOGRAM.names):
        counts = batch.filter(pc.equal(batch["kind"], kind))
        total += pc.sum(pc.multiply(counts["occurrences"], counts["distinct"])).as_py() or 0
    threshold = counted(auto_threshold(kind, total), "time")
    return f"more than {threshold}: automatic for {counted(total, kind)}"
