"""The words of `--help` that are not about a single option."""

PROGRAM = "beam-reuse"

COMMANDS = {
    "demo": ("[-o DIR] [OPTIONS]", "make a small crawl with known reuse, run it, check the tables"),
    "run": ("INPUT... -o DIR [OPTIONS]", "find reuse in crawl files; writes tables (Parquet)"),
    "index": ("INPUT... -o DIR [OPTIONS]", "parse crawl files once, for many later runs"),
}

DESCRIPTIONS = {
    "INPUT": "files, folders or globs, local or on gs://, s3://, hdfs://: WARC and ARC (.gz, "
    ".zst), WET, folders of HTML or text, JSON Lines and Parquet with url and html or text, and "
    "folders written by `index`",
    "demo": """\
Makes a sample crawl (WARC) in which passages are copied a known number of times, runs every
analysis on it, prints the summary and checks each planted thing against what was found.
Exit status 1 if one was missed. Without -o everything goes to a temporary folder that is
removed; with -o the crawl is DIR/crawl and the tables are in DIR/result.""",
    "run": """\
Reads crawl files and writes one folder of tables. Every record read ends as a page, as
skipped (with a reason) or as rejected (with a reason); the summary shows the sum.

  pages                the pages, one row each
  rejects              records that could not be read: file, offset, reason
  depth_histogram      how deep URLs are, before crawler traps are cut
  frequent_chunks      passages that occur more often than the threshold, with samples
  frequency_histogram  how many passages occur how often

Read them with any Parquet reader, or with beam_reuse.tables.read(DIR, "pages").""",
    "index": """\
Parses crawl files and keeps what every analysis starts from: the features of each page and
its decoded bytes. An index is an INPUT of every command, alone or together with crawl
files; results are the same as from the crawl files, without parsing them again.""",
}

EXAMPLES = {
    "": """\
examples:
  beam-reuse demo                                try it, in under a minute
  beam-reuse run crawl.warc.gz -o result         which passages are copied in this crawl?
  beam-reuse index 'crawl/*.warc.gz' -o index    parse once ...
  beam-reuse run index -o result --top 100       ... and ask as often as you like

Exit status: 0 done, 1 the run failed, 2 wrong usage or settings.""",
    "demo": """\
examples:
  beam-reuse demo
  beam-reuse demo -o demo --overwrite            keep crawl and tables to look at""",
    "run": """\
Every Beam pipeline option is accepted under its own name (--project, --flink_master, ...).

examples:
  beam-reuse run crawl.warc.gz -o result
        passages that occur more than ten times (more in a large crawl), with samples
  beam-reuse run 'crawl/*.warc.gz' pages.jsonl.gz -o result --min-hosts 5
        only passages that stand on five hosts or more: reuse across sites
  beam-reuse run site/ -o result --top 50 --chunk-tags p
        the 50 most frequent paragraphs of a folder of HTML files
  beam-reuse run --config job.yaml --dry-run
        check a job's settings, input and output without running it""",
    "index": """\
examples:
  beam-reuse index 'crawl/*.warc.gz' -o index
  beam-reuse run index more.warc.gz -o result    an index and new files together""",
}
