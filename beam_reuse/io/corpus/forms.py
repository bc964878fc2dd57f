"""In which form a page is written, and pages as records of a form."""

from collections.abc import Sequence

from beam_reuse.io.corpus.parquet_records import ROW, parquet_records, with_marks
from beam_reuse.io.corpus.records import CorpusPage, json_records
from beam_reuse.io.corpus.warc_records import WARC_GZ, warc_records
from beam_reuse.io.crawl.parquet_rows import PARQUET
from beam_reuse.io.crawl.rows import JSONL


def form_in(to: str, form: str, marks: tuple[str, ...] = ()) -> str:
    """The form in which a page is written, of which that in its file is `form` ('' if it is not
    there as it is stored), where pages may have these of MARKS."""
    if to == "same":
        found = form or JSONL
    elif form.startswith(to):
        found = form
    else:
        found = {"jsonl": JSONL, "parquet": ROW, "warc": WARC_GZ}[to]
    return with_marks(found, marks) if found.startswith(PARQUET) else found


def suffix_of(form: str) -> str:
    """How the names of files with records of this form end."""
    return {JSONL: "jsonl.gz"}.get(form, form.partition(" ")[0])


def records_of(pages: Sequence[CorpusPage], form: str) -> list[bytes]:
    """The pages as records of one form; equal pages give equal bytes."""
    if form == JSONL:
        return json_records(pages)
    if not form.startswith(PARQUET):
        return [warc_records(page, form) for page in pages]
    if all(page.form == form for page in pages):
        return [page.stored for page in pages]
    return parquet_records(pages, form)
