"""Every option once: the command line, the keys of a config file, --help and the manifest
all come from the table below, in which each analysis has put its own.

An option with a `setting` changes values and is recorded in the manifest; one without says
where and how to run. Defaults are those of the settings, never repeated here.
"""

from collections.abc import Mapping

from beam_reuse.core.settings import CAPTURES, NORMALISATIONS, PARSERS, WAYS
from beam_reuse.declaring.kinds import (
    CONDITIONS,
    CONTENT_TYPES,
    EACH_FILE,
    FILE,
    FILES,
    FOLDER,
    MONEY,
    NAME,
    SERIES,
    SHARE,
    SIZE,
    STATUSES,
    WHOLE,
    WHOLE_SERIES,
    WORDS,
    OptionKind,
    choice,
)
from beam_reuse.declaring.option import (
    EXPERIMENTS,
    FLAG,
    INJECT,
    MUTATE,
    NEGATED,
    THRESHOLDS,
    Option,
)
from beam_reuse.declaring.registry import known

ANALYSES = tuple(about.name for about in known().values() if about.is_asked_for)
ALL = f"run clean decontaminate index labels demo {EXPERIMENTS}"
READING = f"run clean decontaminate estimate index labels {EXPERIMENTS}"
ANALYSING = f"run clean estimate labels {EXPERIMENTS}"
CUTTING = f"{READING} check"
JUDGING = "sample evaluate"
FORMATS = ("table", "csv", "json", "parquet")


def _option(group: str, name: str, kind: OptionKind, help: str, setting: str = "",
            commands: str = READING) -> Option:
    return Option(group, name, kind, help, setting, tuple(commands.split()))


OPTIONS: tuple[Option, ...] = (
    _option("running", "output", FOLDER, "where the result goes: a folder; a file for `labels`",
            "", ALL),
    _option("running", "analyses", WORDS,
            f"what to compute: {', '.join(ANALYSES)}", "analyses", "run estimate"),
    _option("running", "runner", NAME,
            "local (default), flink, spark, prism, dataflow, or any runner name Beam knows", "",
            ALL),
    _option("running", "workers", WHOLE,
            "worker processes on this machine (default: all cores; below 32 MB of input one does "
            "it all); a cluster has its own", "", f"{ALL} estimate"),
    _option("running", "worker-memory", SIZE,
            "memory of a worker process; the sizes of what it sorts and holds follow from it "
            "(default: its share of this machine's; 1G on a cluster)", "", f"{ALL} estimate"),
    _option("running", "engines-dir", FOLDER,
            "where `engines` keeps what it fetches (default: $BEAM_REUSE_ENGINES, or beam-reuse/"
            "engines in the user's cache)", "", f"{ALL} engines"),
    _option("running", "overwrite", FLAG,
            "replace an earlier result; a folder that is not one is never touched", "", ALL),
    _option("running", "dry-run", FLAG,
            "check input, settings and output, show what would be done, write nothing", "",
            "run clean decontaminate index"),
    _option("running", "config", FILE,
            "YAML file with any of these options as keys; the command line wins"),
    _option("running", "debug", FLAG, "show the full traceback when something fails", "",
            f"{ALL} estimate engines"),
    _option("estimating", "sample", SIZE,
            "read no more than so many bytes of the input, and no more than a hundredth (default: "
            "256M)", "", "estimate"),
    _option("estimating", "price", MONEY, "what an hour of a CPU costs", "", "estimate"),
    _option("reading", "captures", choice(*CAPTURES),
            "a URL fetched twice: keep the latest capture, or all", "read.captures",
            f"decontaminate {ANALYSING}"),
    _option("reading", "status", STATUSES,
            "HTTP status numbers that make a page", "read.statuses"),
    _option("reading", "content-types", CONTENT_TYPES,
            "kinds of content that make a page: document, code, other, or all",
            "read.content_types"),
    _option("reading", "max-record-bytes", SIZE,
            "records larger than this when decompressed are rejected; documents and code of "
            "more than 256M always", "read.max_record_bytes"),
    _option("reading", "max-rejects", SHARE,
            "fail, and leave no result, if a larger share of records is rejected",
            "max_rejects"),
    _option("reading", "max-prefix-depth", WHOLE,
            "skip URLs with more directories than this (crawler traps); 0 is off",
            "read.max_prefix_depth", f"decontaminate {ANALYSING}"),
    _option("reading", "max-path-repeats", WHOLE,
            "skip URLs in whose path one component occurs so often, in a row or not; 0 is off",
            "read.max_path_repeats", f"decontaminate {ANALYSING}"),
    _option("reading", "parser", choice(*PARSERS),
            "what parses HTML: lexbor, or html5lib, the reference, which finds the same and takes "
            "fifty times as long (pip install 'beam-reuse[reference]')", "read.parser", CUTTING),
    _option("chunks", "chunk-tags", WORDS,
            "tags before which a page is cut into chunks", "chunks.tags", CUTTING),
    _option("chunks", "chunk-normalise", choice(*NORMALISATIONS),
            "what of a chunk is hashed: its bytes, runs of white space as one space; its bytes as "
            "they are (none); or the text that a reader sees of HTML, whatever its markup (text)",
            "chunks.normalise", CUTTING),
    _option("chunks", "classic", FLAG,
            "the chunk rule of the published hash lists; fixes both options above",
            "chunks.classic", CUTTING),
    _option("chunks", "min-chunk-bytes", SIZE,
            "chunks shorter than this, after normalising, do not count",
            "stops.min_chunk_bytes", ANALYSING),
    _option("chunks", "min-chunk-tokens", WHOLE,
            "chunks with fewer words (tokens) than this do not count; with --chunk-normalise text",
            "stops.min_chunk_tokens", ANALYSING),
    _option("chunks", "stop-chunks", FILES,
            "lists of chunks that do not count: hashes or texts, as Parquet or as text; of a "
            "judged sheet of chunks those called benign",
            "stops.lists", ANALYSING),
    _option("chunks", "no-builtin-stop-chunks", NEGATED,
            "let empty idioms such as <p>&nbsp;</p>, empty files and the robots.txt that forbids "
            "all count; what --stop-chunks lists still does not", "stops.builtin",
            f"{ANALYSING} check"),
    _option("growth", "baseline", FILES,
            "indexes of earlier crawls: the new one is compared with them, and rows that concern "
            "old pages alone are left out", "", "run"),
    _option("growth", "add", FILES,
            "indexes of earlier crawls: the new index has their pages, too, which are not parsed "
            "again", "", "index"),
    _option("lists", "merge", FILES, "add the labels of these lists", "", "labels"),
    _option("lists", "remove", FILES, "leave out the hashes of these lists", "", "labels"),
    _option("lists", "background", FILES,
            "a crawl or index of other sites: chunks that many of them have are left out", "",
            "labels"),
    _option("lists", "background-hosts", WHOLE,
            "leave out chunks on more hosts of the background than this, not counting hosts of the "
            "chunk's own domain (default: 3)", "", "labels"),
    _option("lists", "all-chunks", FLAG,
            "keep chunks that are on several registered domains of the originals, too", "",
            "labels"),
    _option("lists", "grams", WHOLE,
            "make gram labels of evaluation files instead, for `check`: grams of so many tokens, "
            "such as 13", "", "labels"),
    *(option for about in known().values() for option in about.options),
    _option("checking", "labels", EACH_FILE,
            "what to look for: a compact list (.brl), Parquet, text or the folder of a result; "
            "may be given several times", "", "check"),
    _option("checking", "stop-chunks", EACH_FILE,
            "list of chunks that do not count: hashes or texts, as Parquet or as text, or the "
            "benign ones of a judged sheet; may be given several times", "", "check"),
    _option("checking", "min-chunk-bytes", SIZE,
            "chunks shorter than this, after normalising, do not count (default: as the labels "
            "say, 0 for plain lists of hashes, 100 for a list that --learn starts)",
            "", "check"),
    _option("checking", "min-chunk-tokens", WHOLE,
            "chunks with fewer words (tokens) than this do not count (default: as the labels say, "
            "else 0)", "", "check"),
    _option("checking", "page-threshold", SHARE,
            "flag pages with a larger share of known chunks (default: 0, any known chunk)",
            "", "check"),
    _option("checking", "json", FLAG, "answer with one JSON object per page", "", "check"),
    _option("checking", "jsonl", FLAG,
            'read lines of {"url": ..., "html" or "text": ...} and answer each at once with a line '
            "of JSON", "", "check"),
    _option("checking", "url", NAME, "the address of the page, if there is only one", "",
            "check"),
    _option("checking", "learn", FILE,
            "trust this page: add its file and chunks to the labels, with --url as their source",
            "", "check"),
    _option("checking", "output", FILE,
            "with --learn: the list to write, .brl or .parquet (default: that of --labels)", "",
            "check"),
    _option("checking", "overwrite", FLAG, "with --learn: replace another list", "", "check"),
    _option("checking", "trust", choice("lists", "first-use"),
            "whose content is known: that of --labels, or that of login pages which a store has "
            "learnt by itself (default: lists)", "", "check"),
    _option("checking", "store", FILE,
            "with --trust first-use: the file that keeps what is learnt; made if there is none", "",
            "check"),
    _option("checking", "min-evidence", WHOLE,
            "with --trust first-use: flag pages with this many passages of another owner, or more "
            "than half of theirs (default: 2)", "", "check"),
    _option("checking", "max-age", WHOLE,
            "with --trust first-use: days after which a passage that its site no longer shows is "
            "forgotten (default: 365)", "", "check"),
    _option("checking", "learn-pages", WORDS,
            "with --trust first-use: patterns of URLs (* is any characters) of pages that are "
            "learnt, too, with or without a password field", "", "check"),
    _option("checking", "join", WORDS,
            "with --trust first-use: domains that have one owner from now on", "", "check"),
    _option("checking", "forget", WORDS,
            "with --trust first-use: domains of which everything learnt is removed", "", "check"),
    _option("checking", "sites", FLAG, "with --trust first-use: list what was learnt", "", "check"),
    _option("checking", "debug", FLAG, "show the full traceback when something fails", "",
            "check"),
    _option("experiment", "background", FILES,
            "the crawl around the site: any INPUT", "", f"{INJECT} {MUTATE}"),
    _option("experiment", "copies", WHOLE_SERIES,
            "how often the site is copied; dots go on in equal steps", "experiment.copies", INJECT),
    _option("experiment", "partial", FLAG,
            "give every page of every copy a paragraph of its own at its head and its tail",
            "experiment.partial", INJECT),
    _option("experiment", "ways", WORDS,
            f"what is done to pages: {', '.join(WAYS)}", "experiment.ways", MUTATE),
    _option("experiment", "multiples", SERIES,
            "mutations per page / mean chunks per page", "experiment.multiples", MUTATE),
    _option("experiment", "runs", WHOLE, "random runs per multiple", "experiment.runs", MUTATE),
    _option("experiment", "seed", WHOLE,
            "seed of the random numbers: the same seed, the same result", "experiment.seed",
            MUTATE),
    _option("experiment", "blind-copies", WHOLE,
            "blind labels are what discovery finds after this many copies of the site",
            "experiment.blind_copies", MUTATE),
    _option("experiment", "bad", FILES,
            "lists of hashes judged bad: true positives when found", "", THRESHOLDS),
    _option("experiment", "benign", FILES,
            "lists of hashes judged benign: false positives when found", "", THRESHOLDS),
    _option("asking", "to", choice(*FORMATS),
            "how rows are written (default: as a table to read)", "", "sql"),
    _option("asking", "output", FILE, "file to write (default: standard output)", "", "sql"),
    _option("asking", "overwrite", FLAG, "replace a file that is there already", "", "sql"),
    _option("asking", "debug", FLAG, "show the full traceback when something fails", "",
            "completion report sql view"),
    _option("viewing", "crawl", FILES,
            "where the pages are, crawl files or an index of them (default: where the run read "
            "them)", "", "view"),
    _option("viewing", "judge", EACH_FILE,
            "a sheet to judge, CSV or TSV of `sample`; may be given several times", "", "view"),
    _option("viewing", "judgements", FOLDER,
            "folder for sheets that are drawn in the viewer (default: DIR.judgements)", "",
            "view"),
    _option("viewing", "who", NAME, "who judges (default: the user's name)", "", "view"),
    _option("viewing", "port", WHOLE, "port of this machine to serve at (default: any)", "",
            "view"),
    _option("viewing", "no-browser", FLAG, "print the address, and open no browser", "", "view"),
    _option("judging", "of", NAME, "the table to draw rows from", "", "sample"),
    _option("judging", "rows", WHOLE, "how many rows to draw (default: 100)", "", "sample"),
    _option("judging", "seed", WHOLE, "another number gives another sample (default: 0)", "",
            "sample"),
    _option("judging", "where", CONDITIONS,
            "draw only from rows such as 'badness > 0.5', 'url ~ example', 'contains != null'; "
            "all conditions must hold", "", "sample"),
    _option("judging", "pages", FILE,
            "labelled pages: CSV, TSV or Parquet with the columns url, label and perhaps reason",
            "", "evaluate"),
    _option("judging", "neighbourhoods", FILE,
            "labelled directories: the same with the columns prefix and label", "", "evaluate"),
    _option("judging", "pairs", FILE,
            "labelled near-duplicates: the same with the columns url_a, url_b and label", "",
            "evaluate"),
    _option("judging", "judged", FILE,
            "judged rows of any table, as `sample` drew them: precision with its interval", "",
            "evaluate"),
    _option("judging", "of", NAME,
            "with --judged: the table they are of, if their columns do not show it", "",
            "evaluate"),
    _option("judging", "graph", FLAG,
            "figures of the near-duplicate graph: pages, degrees, exponents, similarities, sites",
            "", "evaluate"),
    _option("judging", "differences", WHOLE,
            "compare the tokens of N pairs of each algorithm, or, with --pairs, of N judged pairs",
            "", "evaluate"),
    _option("judging", "crawl", FILES,
            "with --differences: where the pages are, crawl files or an index of them", "",
            "evaluate"),
    _option("judging", "min-r", SHARE,
            "least share of B's correct pairs that a chosen C-threshold must keep (default: 0.8)",
            "", "evaluate"),
    _option("judging", "seed", WHOLE,
            "another number halves labels otherwise and draws other pairs (default: 0)", "",
            "evaluate"),
    _option("judging", "bins", WHOLE, "intervals of C-similarity of --pairs (default: 4)", "",
            "evaluate"),
    _option("judging", "by", WORDS,
            "draw equally many rows for each value of these columns; COLUMN:NUMBER:NUMBER cuts "
            "one at these numbers", "", "sample"),
    _option("judging", "by", WORDS,
            "count pages by these columns of the sheet, or by host, site, domain or "
            "neighbourhood (default: reason)", "", "evaluate"),
    _option("judging", "bins", WHOLE,
            "intervals into which columns of numbers are cut for --by (default: 5)", "", "sample"),
    _option("judging", "output", FILE, "CSV or TSV file to write (default: standard output)",
            "", "sample"),
    _option("judging", "output", FOLDER, "folder for the figures as CSV and JSON", "",
            "evaluate"),
    _option("judging", "overwrite", FLAG, "replace files that are there already", "", JUDGING),
    _option("judging", "debug", FLAG, "show the full traceback when something fails", "", JUDGING),
)
# An option that several commands take in words of their own is here as its first row has it.
BY_NAME: Mapping[str, Option] = {option.name: option for option in reversed(OPTIONS)}


def options_of(command: str) -> tuple[Option, ...]:
    """The options of one command, in the order of the table."""
    return tuple(option for option in OPTIONS if command in option.commands)


def options_by_name(command: str) -> dict[str, Option]:
    """All options by name, those that change values as the command has them: others may have one
    of the same name."""
    mine = {option.name: option for option in reversed(options_of(command)) if option.setting}
    return {**BY_NAME, **mine}


def commands_with(name: str) -> tuple[str, ...]:
    """The commands that take an option of this name, in the order of the table."""
    found = (command for o in OPTIONS if o.name == name for command in o.commands)
    return tuple(dict.fromkeys(found))
