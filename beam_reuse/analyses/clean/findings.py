"""What the summary of a run says of a corpus."""

from collections.abc import Iterator

from beam_reuse.analyses.clean.claims import REASONS
from beam_reuse.analyses.clean.settings import AS_TEXT, AS_UTF8, STRIPS
from beam_reuse.core.wording import counted, megabytes
from beam_reuse.io.results.result import Result


def findings(result: Result) -> Iterator[str]:
    """Pages = kept + dropped, bytes = kept + dropped + stripped, each reason with its own."""
    noted, pages = result.noted, result.manifest.accounting.pages
    kept = noted.get("kept-pages", 0)
    shards = result.manifest.shards
    yield (f"corpus: {counted(pages, 'page')} = {kept:,} kept + {pages - kept:,} dropped; "
           f"{megabytes(noted.get('kept-bytes', 0))} in {counted(len(shards), 'file')}")
    for what in ("dropped", "marked"):
        for reason in REASONS:
            if number := noted.get(f"{what}-pages-{reason}", 0):
                size = noted.get(f"{what}-bytes-{reason}", 0)
                yield f"  {what} as {reason}: {counted(number, 'page')}, {megabytes(size)}"
    if number := noted.get("stripped-pages", 0):
        sizes = {reason: noted.get(f"stripped-bytes-{reason}", 0)
                 for reason in (*STRIPS, AS_TEXT, AS_UTF8)}
        shown = ", ".join(f"{reason} {megabytes(size)}" for reason, size in sizes.items() if size)
        yield f"  stripped: {counted(number, 'page')}: {shown}"
    yield ""
