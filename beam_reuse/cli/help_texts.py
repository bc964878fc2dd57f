"""The words of `--help` that are not about a single option."""

from beam_reuse.declaring.registry import known
from beam_reuse.judging.verdicts import WORDS

PROGRAM = "beam-reuse"

COMMANDS = {
    "demo": ("[-o DIR] [OPTIONS]", "make a small crawl with known reuse, run it, check the tables"),
    "run": ("INPUT... -o DIR [OPTIONS]", "find reuse in crawl files; writes tables (Parquet)"),
    "index": ("INPUT... -o DIR [OPTIONS]", "parse crawl files once, for many later runs"),
    "labels": ("[INPUT...] -o FILE [OPTIONS]", "make a list of known content to look for"),
    "check": ("[PAGE...] --labels FILE [OPTIONS]",
              "is this page made of known content? answers at once, without Beam"),
    "experiment": ("inject|mutate|thresholds ... -o DIR [OPTIONS]",
                   "the papers' experiments on a site of yours, with figures"),
    "sample": ("DIR --of TABLE [OPTIONS]", "draw rows of a table for people to judge, as CSV"),
    "evaluate": ("DIR --pages|--pairs FILE [OPTIONS]",
                 "precision and recall, by labelled pages or pairs"),
    "engines": ("[ENGINE...] [OPTIONS]",
                "fetch and check what runs on Flink, Spark and Prism need"),
}
EXPERIMENT = "experiment"
EXPERIMENTS = {
    "inject": ("SITE... [--background INPUT...] -o DIR [OPTIONS]",
               "how many copies until discovery finds a site?"),
    "mutate": ("SITE... [--background INPUT...] -o DIR [OPTIONS]",
               "how much may pages change until detection loses them?"),
    "thresholds": ("INPUT... --bad FILE... --benign FILE... -o DIR [OPTIONS]",
                   "which discovery threshold parts the bad from the benign?"),
}
# Commands that run no pipeline, and so take none of Beam's options.
WITHOUT_BEAM = ("check", "sample", "evaluate", "engines")

_LABELS = "\n".join(f"  {verdict.value:11}{' '.join(words)}" for verdict, words in WORDS.items())

_ANALYSES = "\n\n".join(
    f" {about.name}: {about.question}\n{about.help}" for about in known().values())

DESCRIPTIONS = {
    "INPUT": "files, folders or globs, local or on gs://, s3://, hdfs://: WARC and ARC (.gz, "
    ".zst), WET, folders of HTML or text, JSON Lines and Parquet with url and html or text, and "
    "folders written by `index`",
    "DIR": "folder written by `run`",
    "PAGE": "files of pages (HTML, text, code), or any crawl files and folders that `run` reads; "
    "- or nothing for standard input",
    "ENGINE": "flink, spark (default: these two), prism, flink-cluster, spark-cluster",
    "demo": """\
Makes a sample crawl (WARC) in which passages are copied a known number of times, runs every
analysis on it, prints the summary and checks each planted thing against what was found.
Exit status 1 if one was missed. Without -o everything goes to a temporary folder that is
removed; with -o the crawl is DIR/crawl and the tables are in DIR/result.""",
    "run": f"""\
Reads crawl files and writes one folder of tables. Every record read ends as a page, as
skipped (with a reason) or as rejected (with a reason); the summary shows the sum.

  pages                the pages, one row each
  rejects              records that could not be read: file, offset, reason
  depth_histogram      how deep URLs are, before crawler traps are cut

{_ANALYSES}

Read them with any Parquet reader, or with beam_reuse.tables.read(DIR, "pages").""",
    "index": """\
Parses crawl files and keeps what every analysis starts from: the features of each page and
its decoded bytes. An index is an INPUT of every command, alone or together with crawl
files; results are the same as from the crawl files, without parsing them again.""",
    "labels": """\
Makes a list of labels: the hash of every file and chunk of the originals (an encyclopaedia, a
bank's pages), each with the page it stands on. `run --labels FILE` and `check --labels FILE`
then find copies. The list keeps how pages were cut, so both cut alike. Short chunks stand
everywhere: those below --min-chunk-bytes are left out.

-o FILE.parquet can be read and edited with any Parquet tool; -o FILE.brl is a compact form that
opens at once, for `check` and other programs.""",
    "check": """\
Tells of each page which of its chunks are known, whose they are, and whether that is more than
--page-threshold. Values are those of `run` with the same lists and thresholds. Labels are not
loaded but looked up in the file: with a compact list (.brl) of ten million the command starts in
about two seconds and stays below 250 MB, so a crawler or a mail filter can keep one running. Lists
of other formats are made compact first, in some three seconds per million labels.

Settings are adopted from the labels: pages are cut as the list tells. --chunk-tags and the other
options of chunks are for plain lists of hashes, and refused where they contradict the labels; only
--min-chunk-bytes may be larger than the list's.

With --jsonl every line of input gets a line of output, in order and flushed at once. In: an object
with "html" or "text" (html wins) and perhaps "url"; other fields are ignored. Out: url, chunks,
stop_chunks, matching, distinct_matching, contains (null without chunks), file_match, file_source,
flagged, matches (position, start, end, sha1, source_url of each) and sources (name, matching). A
line that holds no page, or is longer than 128 MB, gets {"line": N, "error": "..."}, and the next
one is read; blank lines get none. Such lines do not change the exit status.

With --learn a page is trusted on first use: its file and its chunks become labels, except those
that are labels already, which stay whose they were. So a clone that is trusted by mistake does not
take over what it copied. Check the page as the user sees it: where scripts write the page, give
the serialised document.""",
    "experiment": """\
The experiments of Ardi and Heidemann, on any site and in any background:

  inject      the site is copied 100 to 5,000 times: which of its files and chunks does
              discovery find?
  mutate      chunks are added to, deleted from or changed in every page: how much is
              tolerated until detection loses the pages, or the site as a whole?
  thresholds  true and false positives against the discovery threshold, from hashes that
              people have judged; neighbourhoods flagged with and without stop chunks

Each writes figures (PNG and SVG) and its values as tables (Parquet and CSV) to DIR. Figures
need matplotlib: pip install '.[figures]'.""",
    "experiment-inject": """\
Copies a whole site d times under made-up hosts into a background, and shows against d which
share of the site's distinct files and chunks discovery finds. Nothing is really copied: a
chunk that stands b times in the background and s times in the site stands b + d*s times in
both, so the result is exact and as cheap for 5,000 copies as for one. With --partial no copy
of a page is like another, and only chunks can be found.

  inject              copies, thresholds, files and chunks found, their shares
  inject.png, .svg    both shares against the number of copies""",
    "experiment-mutate": """\
Mutates every page of a site n times and looks whether detection still finds it. add: n chunks
that match nothing. delete: n random chunks; a page without chunks is gone. change: n times a
chunk is picked, and one character of it altered; it may be picked again. n goes from 0 to 8
times the site's mean chunks per page, each in several random runs. Labels are those of an
expert (all chunks of the site) and blind ones (what discovery finds after --blind-copies
copies of the site in the background).

A page's value is its share of matching chunks, the neighbourhood's that of all its pages
together. Tolerance is the multiple at which the mean is no longer above the threshold, on the
straight line between two steps. The thresholds are given, or mean + one deviation over the
background's pages and neighbourhoods, or, without a background, the papers' (0.144 and 0.163);
never the site's own.

  mutate, tolerances        every point of every curve; tolerances beside the papers'
  mutate-WAY.png, .svg      pages, neighbourhood and pages still detected""",
    "experiment-thresholds": """\
Counts how often each judged hash occurs in the crawl, and shows how many bad ones (true
positives) and benign ones (false positives) every discovery threshold finds. The lists hold
hashes of files or chunks: text with one hex hash per line, or a table of labels as `labels`
and `run` write it. Then detects reuse twice, with stop chunks taken out and with all of them
left in, and counts the neighbourhoods flagged.

  thresholds                 found at every threshold at which something changes
  stop_chunk_effect          neighbourhoods flagged with and without stop chunks
  thresholds.png, .svg       both rates against the threshold, and against each other""",
    "engines": """\
Fetches with Maven, pip and Go, as they are configured here, what runs on other engines need,
keeps it in the user's cache and checks every file of what is there already.

  flink, spark     Beam's job server for --runner flink and spark: the ready one of the installed
                   Beam if Maven has it, else assembled from published parts
  prism            Beam's own engine for one machine, built with Go for the installed Beam
  flink-cluster, spark-cluster   a whole Flink and Spark from PyPI, to try clusters on one machine

Flink and Spark need Java 11 or 17, Prism needs Go to be built.""",
    "sample": """\
Draws rows of a result table at random and writes them as CSV with two empty columns at the end,
label and reason, for people to fill; `evaluate` reads the file back. The same seed draws the
same rows, more rows (-n) keep the earlier ones, and the first rows are a sample themselves, so
judging may stop anywhere. With --by as many rows of each value are drawn, and the sheet tells how
many rows each stands for (weight). Cells that a spreadsheet would run get an apostrophe before
them, which `evaluate` takes away.""",
    "evaluate": f"""\
Compares a result with what people say: what detection flagged with judged pages (--pages) or
directories (--neighbourhoods), near-duplicates with judged pairs (--pairs). The label of a page
says what it is, not whether the flag is right:

{_LABELS}

An empty label is not judged yet, undecided ones are counted apart, and any other word is an
error. Shown are TP, FP, FN, TN, the rates with their exact fractions, the classes of pages by
reason, and what every other threshold would have given. Rows drawn with `sample --by` also give
estimates for the whole table.

With --pairs a label says whether two pages are near-duplicates. Shown for B, C, combined and
hybrid: precision (undecided ones count as not correct, and without them), recall among the
labelled pairs, R (the share of B's correct pairs that combined keeps), by site and similarity;
reasons; every C-threshold of combined, one chosen on half of the labels and tested on the other;
and the C-threshold at which C returns as many correct pairs as B. --graph and --differences need
no labels.""",
}

EXAMPLES = {
    "": """\
examples:
  beam-reuse demo                                try it, in a minute or two
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
On a cluster the same command takes --runner flink, spark or dataflow, after beam-reuse engines has
fetched what it needs; docs/running-on-clusters.md tells the rest.

examples:
  beam-reuse run crawl.warc.gz -o result
        passages that occur more than ten times (more in a large crawl), with samples
  beam-reuse run 'crawl/*.warc.gz' pages.jsonl.gz -o result --min-hosts 5
        only passages that stand on five hosts or more: reuse across sites
  beam-reuse run site/ -o result --top 50 --chunk-tags p
        the 50 most frequent paragraphs of a folder of HTML files
  beam-reuse run index -o overlap --analyses overlap --overlap-chunkings whole,paragraph
        which hosts and pages share paragraphs? which are mirrors?
  beam-reuse run index -o quilts --analyses quilts --gram-size 5,4,8 --min-sources 4,2,8
        quilted pages, and how many there are when one number varies
  beam-reuse run --config job.yaml --dry-run
        check a job's settings, input and output without running it
  beam-reuse run '/shared/crawl/*.warc.gz' -o /shared/result --runner flink
      --flink_master flink.example:8081
        on a Flink cluster, whose machines have beam-reuse installed and see /shared""",
    "index": """\
examples:
  beam-reuse index 'crawl/*.warc.gz' -o index
  beam-reuse run index more.warc.gz -o result    an index and new files together""",
    "labels": """\
examples:
  beam-reuse labels wikipedia.warc.gz -o wikipedia.parquet
  beam-reuse run 'crawl/*.warc.gz' -o clones --labels wikipedia.parquet
        which sites copy it?
  beam-reuse labels --merge a.parquet b.parquet --remove templates.txt -o both.parquet
        two lists as one, without some hashes
  beam-reuse labels --merge both.parquet -o both.brl
        the same in compact form""",
    "check": """\
examples:
  beam-reuse labels bank/ -o bank.brl --min-chunk-bytes 25
  beam-reuse check mail.html --labels bank.brl
        does this page hold parts of the bank's?
  crawler | beam-reuse check --jsonl --labels bank.brl --page-threshold 0.1 | filter
        {"url": "http://a.org/", "html": "<html>..."} in, {"url": ..., "flagged": true, ...} out
  beam-reuse check --learn login.html --url https://bank.com/login -o bank.brl
        start a list with one trusted page; with --labels bank.brl instead of -o, add to it
  beam-reuse check suspects.warc.gz --labels bank.brl --labels shop.parquet --json""",
    "experiment": """\
examples:
  beam-reuse experiment inject --help            the options of each, and more examples
  beam-reuse experiment mutate site/ -o mutate   a folder of HTML, the papers' thresholds""",
    "experiment-inject": """\
examples:
  beam-reuse experiment inject blog/ --background 'crawl/*.warc.gz' -o inject
        thresholds automatic: they grow with the corpus, as copies are added
  beam-reuse experiment inject blog.warc.gz -o inject --partial \\
      --file-threshold 1000 --chunk-threshold 100000
        the papers' thresholds, every copy with paragraphs of its own
  beam-reuse experiment inject blog/ -o inject --copies 1,2,5,10,20,...,200 --chunk-threshold 50""",
    "experiment-mutate": """\
examples:
  beam-reuse experiment mutate blog/ --background index -o mutate
        an index of the background is read in a moment, for each experiment anew
  beam-reuse experiment mutate blog/ -o mutate --chunk-threshold 100000
        the papers' settings: their thresholds, and blind labels that discovery finds among
        5,000 copies at a threshold of 100,000
  beam-reuse experiment mutate blog/ -o mutate --ways change --multiples 0,0.1,...,3 --runs 50""",
    "experiment-thresholds": """\
examples:
  beam-reuse run crawl.warc.gz -o result --top 500
        judge result/frequent_chunks: hashes of bad ones to bad.txt, of benign ones to benign.txt
  beam-reuse experiment thresholds crawl.warc.gz --bad bad.txt --benign benign.txt \\
      --stop-chunks benign.txt -o thresholds""",
    "sample": """\
examples:
  beam-reuse sample result --of page_reuse -n 200 --by flagged -o pages.csv
        100 flagged pages and 100 others
  beam-reuse sample result --of neighbourhoods -n 40 --where 'flagged = true' -o bad.csv
  beam-reuse sample result --of frequent_chunks --by occurrences --bins 4 -o chunks.csv
        25 chunks of each order of magnitude
  beam-reuse sample result --of near_duplicates -n 400 --by b,c,c_similarity -o pairs.csv
        pairs that B returns, C, or both, at every level of similarity""",
    "evaluate": """\
examples:
  beam-reuse evaluate result --pages pages.csv
  beam-reuse evaluate result --pages phishtank.tsv --by host -o figures
  beam-reuse evaluate result --neighbourhoods bad.csv
  beam-reuse evaluate result --pairs pairs.csv -o figures
  beam-reuse evaluate result --graph -o graph
  beam-reuse evaluate result --differences 1000 --crawl 'crawl/*.warc.gz'""",
    "engines": """\
examples:
  beam-reuse engines flink
  beam-reuse run crawl.warc.gz -o result --runner flink
        Flink embedded: the same tables, to the byte
  beam-reuse engines --engines-dir /srv/engines""",
}
