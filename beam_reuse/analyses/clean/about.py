"""What cleaning is. No Beam."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from beam_reuse.analyses.clean.settings import DROPS, STRIPS, TARGETS, CleanSettings
from beam_reuse.core.settings import SettingError
from beam_reuse.declaring.about import About, Values
from beam_reuse.declaring.kinds import FILES, FOLDER, SHARE, SIZE, WHOLE, WORDS, choice
from beam_reuse.declaring.option import FLAG, option

if TYPE_CHECKING:
    from beam_reuse.declaring.settings import Settings


def idle(given: Collection[str], values: Values) -> str:
    """Why an option does nothing: what it is about is not asked for."""
    strip = values.get("strip", ())
    if "strip-pages" in given and "frequent-lines" not in strip:
        return "--strip-pages does nothing without --strip frequent-lines. Add it, or leave it out."
    if "min-covered" in given and "quilts" not in values.get("drop", ()):
        return "--min-covered does nothing without --drop quilts. Add it, or leave it out."
    if "min-left" in given and not strip:
        return "--min-left does nothing without --strip. Add it, or leave it out."
    return ""


def check(settings: "Settings") -> None:
    """Chunks of text are no bytes of the page that could be taken out."""
    if "matched" in settings.clean.strip and settings.chunks.normalise == "text":
        raise SettingError("--strip matched: chunks that are cut by their text (--chunk-normalise "
                           "text) are no bytes of a page. Leave one of them out")


CLEAN = About(
    name="clean",
    settings=CleanSettings,
    transform="beam_reuse.analyses.clean.find:CleanCorpus",
    tables="beam_reuse.analyses.clean.schemas:TABLES",
    findings="beam_reuse.analyses.clean.findings:findings",
    question="which pages went from a corpus, and why",
    help="  removed               each page that was dropped: why, and for which page that stays",
    command="clean",
    options=(
        option("drop", WORDS, f"which pages to drop: {', '.join(DROPS)}; or none",
               commands="clean"),
        option("min-covered", SHARE,
               "with --drop quilts: only pages of whose grams this share is on their sources",
               commands="clean"),
        option("drop-table", FILES,
               "drop the pages of these lists of URLs, too: Parquet, CSV or TSV with a column url, "
               "or text with one a line", "tables", commands="clean"),
        option("strip", WORDS,
               f"what to take out of pages that stay: {', '.join(STRIPS)}: lines of their host's "
               "template, lines on more than --strip-pages pages (but on the first), chunks that "
               "labels match", commands="clean"),
        option("strip-pages", WHOLE, "with --strip frequent-lines: lines on more pages than this",
               commands="clean"),
        option("min-left", WHOLE,
               "drop a page of which --strip leaves fewer words (tokens) than this",
               commands="clean"),
        option("flag", FLAG,
               "drop no page: those that would go are written with a mark, a column `flag`",
               commands="clean"),
        option("result", FOLDER,
               "an earlier result of the same input: its tables decide what goes, and nothing is "
               "analysed again", commands="clean"),
        option("to", choice(*TARGETS),
               "what to write: rows of JSON Lines or Parquet, WARC records, or the same as the "
               "input has", commands="clean"),
        option("shard-bytes", SIZE, "about how many bytes of records are in a file", "shard_bytes",
               commands="clean"),
    ),
    idle=idle,
    check=check,
    counts={
        "kept-": "", "dropped-": "", "marked-": "", "stripped-": "", "written-": "",
        "all-bytes": "",
        "listed-but-absent": "URLs of --drop-table that no page has",
    },
)
