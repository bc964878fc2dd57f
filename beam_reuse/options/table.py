"""Every option once: the command line, the keys of a config file, --help and the manifest
all come from the table below.

An option with a `setting` changes values and is recorded in the manifest; one without says
where and how to run. Defaults are those of `core.settings`, never repeated here.
"""

from collections.abc import Mapping

from beam_reuse.core.settings import (
    ALGORITHMS,
    CAPTURES,
    KEEP_RULES,
    MATCHERS,
    NORMALISATIONS,
    OVERLAP_METHODS,
    SCORES,
    SWEEPS,
    VARIANTS,
    WAYS,
)
from beam_reuse.options.kinds import (
    CONDITIONS,
    CONTENT_TYPES,
    EACH_FILE,
    FILE,
    FILES,
    FOLDER,
    NAME,
    NUMBERS,
    SERIES,
    SHARE,
    SHARES,
    SIZE,
    STATUSES,
    WHOLE,
    WHOLE_SERIES,
    WORDS,
    OptionKind,
    choice,
    optional,
    or_word,
)
from beam_reuse.options.option import FLAG, NEGATED, Option

ANALYSES = ("discovery", "detection", "near-duplicates", "overlap", "quilts")
INJECT, MUTATE, THRESHOLDS = "experiment-inject", "experiment-mutate", "experiment-thresholds"
EXPERIMENTS = f"{INJECT} {MUTATE} {THRESHOLDS}"
ALL = f"run index labels demo {EXPERIMENTS}"
READING = f"run index labels {EXPERIMENTS}"
ANALYSING = f"run labels {EXPERIMENTS}"
CUTTING = f"{READING} check"
JUDGING = "sample evaluate"


def _option(group: str, name: str, kind: OptionKind, help: str, setting: str = "",
            commands: str = READING) -> Option:
    return Option(group, name, kind, help, setting, tuple(commands.split()))


OPTIONS: tuple[Option, ...] = (
    _option("running", "output", FOLDER, "where the result goes: a folder; a file for `labels`",
            "", ALL),
    _option("running", "analyses", WORDS,
            f"what to compute: {', '.join(ANALYSES)}", "analyses", "run"),
    _option("running", "runner", NAME,
            "local (default), flink, spark, prism, dataflow, or any runner name Beam knows", "",
            ALL),
    _option("running", "workers", WHOLE,
            "worker processes on this machine (default: all cores; below 32 MB of input one does "
            "it all); a cluster has its own", "", ALL),
    _option("running", "worker-memory", SIZE,
            "memory of a worker process; the sizes of what it sorts and holds follow from it "
            "(default: its share of this machine's; 1G on a cluster)", "", ALL),
    _option("running", "engines-dir", FOLDER,
            "where `engines` keeps what it fetches (default: $BEAM_REUSE_ENGINES, or beam-reuse/"
            "engines in the user's cache)", "", f"{ALL} engines"),
    _option("running", "overwrite", FLAG,
            "replace an earlier result; a folder that is not one is never touched", "", ALL),
    _option("running", "dry-run", FLAG,
            "check input, settings and output, show what would be done, write nothing", "",
            "run index"),
    _option("running", "config", FILE,
            "YAML file with any of these options as keys; the command line wins"),
    _option("running", "debug", FLAG, "show the full traceback when something fails", "", ALL),
    _option("reading", "captures", choice(*CAPTURES),
            "a URL fetched twice: keep the latest capture, or all", "read.captures", ANALYSING),
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
            "read.max_prefix_depth", ANALYSING),
    _option("reading", "max-path-repeats", WHOLE,
            "skip URLs in whose path something stands this often in a row; 0 is off",
            "read.max_path_repeats", ANALYSING),
    _option("chunks", "chunk-tags", WORDS,
            "tags before which a page is cut into chunks", "chunks.tags", CUTTING),
    _option("chunks", "chunk-normalise", choice(*NORMALISATIONS),
            "make runs of white space in a chunk one space before hashing, or not",
            "chunks.normalise", CUTTING),
    _option("chunks", "classic", FLAG,
            "the chunk rule of the published hash lists; fixes both options above",
            "chunks.classic", CUTTING),
    _option("chunks", "min-chunk-bytes", SIZE,
            "chunks shorter than this, after normalising, do not count",
            "stops.min_chunk_bytes", ANALYSING),
    _option("chunks", "stop-chunks", FILES,
            "lists of chunks that do not count: hashes or texts, as Parquet or as text",
            "stops.lists", ANALYSING),
    _option("chunks", "no-builtin-stop-chunks", NEGATED,
            "let empty idioms such as <p>&nbsp;</p>, empty files and the robots.txt that forbids "
            "all count; what --stop-chunks lists still does not", "stops.builtin",
            f"{ANALYSING} check"),
    _option("lists", "merge", FILES, "add the labels of these lists", "", "labels"),
    _option("lists", "remove", FILES, "leave out the hashes of these lists", "", "labels"),
    _option("discovery", "file-threshold", or_word(WHOLE, "auto"),
            "files that occur more often than this are reported",
            "discovery.file_threshold", f"run {INJECT} {THRESHOLDS}"),
    _option("discovery", "chunk-threshold", or_word(WHOLE, "auto"),
            "chunks that occur more often than this are reported",
            "discovery.chunk_threshold", f"run {EXPERIMENTS}"),
    _option("discovery", "top", optional(WHOLE),
            "report the N most frequent files and chunks instead of those above a threshold",
            "discovery.top", "run"),
    _option("discovery", "min-hosts", WHOLE,
            "report only what is found on this many hosts or more", "discovery.min_hosts", "run"),
    _option("detection", "labels", FILES,
            "look for what these lists hold, not for what discovery finds",
            "detection.labels", "run"),
    _option("detection", "min-chunks", WHOLE,
            "flag no page with fewer chunks than this", "detection.min_chunks",
            "run check"),
    _option("detection", "page-threshold", or_word(SHARE, "auto"),
            "flag pages with a larger share of matching chunks; auto: mean + one deviation",
            "detection.page_threshold", f"run {MUTATE}"),
    _option("detection", "neighbourhood-threshold", or_word(SHARE, "auto"),
            "flag directories with a larger share; auto: mean + one deviation",
            "detection.neighbourhood_threshold", f"run {MUTATE} {THRESHOLDS}"),
    _option("detection", "neighbourhood-score", choice(*SCORES),
            "a directory's share: of all its chunks, or the mean of its pages",
            "detection.neighbourhood_score", "run"),
    _option("detection", "matcher", choice(*MATCHERS),
            "match chunks by their exact hash, or also by similar Nilsimsa digests",
            "detection.matcher", "run labels"),
    _option("detection", "nilsimsa-threshold", NUMBERS,
            "least Nilsimsa score of a match; further numbers are only counted",
            "detection.nilsimsa_thresholds", "run"),
    _option("near-duplicates", "shingle-size", WHOLE,
            "tokens of a shingle (algorithm B)", "near_duplicates.shingle_size", "run"),
    _option("near-duplicates", "min-values", WHOLE,
            "smallest hashes taken of a page's shingles", "near_duplicates.min_values", "run"),
    _option("near-duplicates", "supershingles", WHOLE,
            "fingerprints these are cut into", "near_duplicates.supershingles", "run"),
    _option("near-duplicates", "b-threshold", WHOLE,
            "B-similar: so many supershingles agree", "near_duplicates.b_threshold", "run"),
    _option("near-duplicates", "projection-bits", WHOLE,
            "random projections of a page's tokens (algorithm C)",
            "near_duplicates.projection_bits", "run"),
    _option("near-duplicates", "c-threshold", WHOLE,
            "C-similar: so many projections agree; below some 360 of 384 ever more pairs merely "
            "share a language or a subject, below 354 all pages are compared with all",
            "near_duplicates.c_threshold", "run"),
    _option("near-duplicates", "combined-threshold", WHOLE,
            "combined: B-similar, and so many projections agree",
            "near_duplicates.combined_threshold", "run"),
    _option("near-duplicates", "max-group", WHOLE,
            "larger groups of candidates are compared in part: each page with the group's smallest "
            "URL and the next 10", "near_duplicates.max_group", "run"),
    _option("near-duplicates", "keep-by", choice(*ALGORITHMS),
            "the algorithm by whose pairs pages are dropped (table keep)",
            "near_duplicates.keep_by", "run"),
    _option("near-duplicates", "keep-rule", choice(*KEEP_RULES),
            "which of similar pages is kept", "near_duplicates.keep_rule", "run"),
    _option("overlap", "overlap-chunkings", WORDS,
            "how pages are cut to be compared: whole, N-lines, N-words, paragraph, sentence; "
            "small chunks find more; an inserted line shifts all later N-lines and N-words, so "
            "take 1-lines, paragraph or sentence (parsed anew) for edited copies and mirrors",
            "overlap.chunkings", "run"),
    _option("overlap", "overlap-threshold", or_word(WORDS, "auto"),
            "pages overlap that share so many chunks: N, or such as 4-lines=15,2-lines=25; auto: "
            "25 for up to 2 lines, 10 for paragraphs, else 15", "overlap.thresholds", "run"),
    _option("overlap", "server-overlap-threshold", or_word(WORDS, "auto"),
            "the same for hosts, of which each is all its pages; auto: 25, whole pages 1",
            "overlap.server_thresholds", "run"),
    _option("overlap", "mirror-containment", SHARE,
            "two hosts are mirrors if so much of each is on the other, and if of one only, this "
            "is a part", "overlap.mirror", "run"),
    _option("overlap", "max-df", WHOLE,
            "chunks on more pages than this (for hosts: on more hosts), menus and licences, pair "
            "nobody; containment still counts them", "overlap.max_df", "run"),
    _option("overlap", "overlap-method", choice(*OVERLAP_METHODS),
            "count pairs coarsely first and ship only those that can reach the threshold, or ship "
            "all; the same tables either way", "overlap.method", "run"),
    _option("quilts", "gram-size", NUMBERS,
            "tokens of a gram, the smallest patch that counts; this and the next three take lists, "
            "whose first number is the pivot of a sweep", "quilts.gram_size", "run"),
    _option("quilts", "max-pages-per-gram", NUMBERS,
            "grams on more pages than this are phrases or boilerplate, not patches; cost grows "
            "with it", "quilts.max_pages_per_gram", "run"),
    _option("quilts", "min-sources", NUMBERS,
            "a quilt takes from so many pages or more; near-copies of one page take from few",
            "quilts.min_sources", "run"),
    _option("quilts", "min-patch-fraction", SHARES,
            "and at least this share of its grams stands on other pages, too",
            "quilts.min_patch_fraction", "run"),
    _option("quilts", "sweep", choice(*SWEEPS),
            "with lists: vary one number at a time from the pivot, or combine all with all; one "
            "run shares the work", "quilts.sweep", "run"),
    _option("quilts", "sweep-sources", FLAG,
            "write quilt_sources for every combination, not for the pivot alone",
            "quilts.sweep_sources", "run"),
    _option("quilts", "quilt-sources", choice(*VARIANTS),
            "which pages may be sources: any other page, those of another registered domain, or "
            "of another domain and IP address", "quilts.variant", "run"),
    _option("quilts", "ip-table", FILES,
            "with --quilt-sources ip: addresses of hosts whose records have none; text with a host "
            "and an address per line, or Parquet with the columns host and ip",
            "quilts.ip_tables", "run"),
    _option("quilts", "min-source-share", SHARE,
            "sources that add a smaller share of the patch grams do not count: 0.05 leaves out "
            "crumbs", "quilts.min_source_share", "run"),
    _option("checking", "labels", EACH_FILE,
            "what to look for: a compact list (.brl), Parquet, text or the folder of a result; "
            "may be given several times", "", "check"),
    _option("checking", "stop-chunks", EACH_FILE,
            "list of chunks that do not count: hashes or texts, as Parquet or as text; may be "
            "given several times", "", "check"),
    _option("checking", "min-chunk-bytes", SIZE,
            "chunks shorter than this, after normalising, do not count (default: as the labels "
            "tell, 0 for plain lists of hashes, 100 for a list that --learn starts)",
            "", "check"),
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
            "decides how lots fall: the same, the same result", "experiment.seed", MUTATE),
    _option("experiment", "blind-copies", WHOLE,
            "blind labels are what discovery finds after this many copies of the site",
            "experiment.blind_copies", MUTATE),
    _option("experiment", "bad", FILES,
            "lists of hashes judged bad: true positives when found", "", THRESHOLDS),
    _option("experiment", "benign", FILES,
            "lists of hashes judged benign: false positives when found", "", THRESHOLDS),
    _option("running", "debug", FLAG, "show the full traceback when something fails", "",
            "engines"),
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
# An option that several commands take in words of their own stands here as its first row has it.
BY_NAME: Mapping[str, Option] = {option.name: option for option in reversed(OPTIONS)}


def options_of(command: str) -> tuple[Option, ...]:
    """The options of one command, in the order of the table."""
    return tuple(option for option in OPTIONS if command in option.commands)


def commands_with(name: str) -> tuple[str, ...]:
    """The commands that take an option of this name, in the order of the table."""
    found = (command for o in OPTIONS if o.name == name for command in o.commands)
    return tuple(dict.fromkeys(found))
