"""What discovery and detection are. One transform does both. No Beam."""

from beam_reuse.analyses.reuse.settings import (
    IN_BACKGROUND,
    MATCHERS,
    ON_SEVERAL_DOMAINS,
    SCORES,
    DetectionSettings,
    DiscoverySettings,
    require_use_of_labels,
)
from beam_reuse.declaring.about import About
from beam_reuse.declaring.kinds import FILES, NUMBERS, SHARE, WHOLE, choice, optional, or_word
from beam_reuse.declaring.option import EXPERIMENTS, FLAG, INJECT, MUTATE, THRESHOLDS, option

DISCOVERY = About(
    name="discovery",
    settings=DiscoverySettings,
    transform="beam_reuse.analyses.reuse.find:FindReuse",
    tables="beam_reuse.analyses.reuse.schemas:DISCOVERED",
    findings="beam_reuse.analyses.reuse.findings:discovered",
    report="beam_reuse.analyses.reuse.report:discovered",
    question="what is copied most",
    help="""\
  frequent_files, frequent_chunks   whole files and passages above the threshold, with
                        samples and where they were first captured
  frequency_histogram   how many files and passages occur how often
  labels                the same as a list to look for elsewhere""",
    options=(
        option("file-threshold", or_word(WHOLE, "auto"),
               "files that occur more often than this are reported",
               commands=f"run {INJECT} {THRESHOLDS}"),
        option("chunk-threshold", or_word(WHOLE, "auto"),
               "chunks that occur more often than this are reported",
               commands=f"run {EXPERIMENTS}"),
        option("top", optional(WHOLE),
               "report the N most frequent files and chunks instead of those above a threshold"),
        option("min-hosts", WHOLE,
               "report only what is found on this many hosts or more"),
    ),
    needed_by=("detection",),
)
DETECTION = About(
    name="detection",
    settings=DetectionSettings,
    transform="beam_reuse.analyses.reuse.find:FindReuse",
    tables="beam_reuse.analyses.reuse.schemas:DETECTED",
    findings="beam_reuse.analyses.reuse.findings:detected",
    report="beam_reuse.analyses.reuse.report:detected",
    question="where known content is (what --labels hold, or else what discovery found)",
    help="""\
  matched_files, matched_chunks   every copy, and where it came from
  page_reuse            each page: how many of its chunks are known, flagged or not
  neighbourhoods        each directory and host: the same over all pages below it
  neighbourhood_sources whose content it is""",
    options=(
        option("labels", FILES,
               "look for what these lists hold, not for what discovery finds"),
        option("count-own", FLAG,
               "count what a page shares with labels of its own registered domain, too",
               commands="run check"),
        option("min-chunks", WHOLE,
               "flag no page with fewer chunks than this", commands="run check"),
        option("min-matching", WHOLE,
               "flag no page with fewer distinct chunks that match", commands="run check"),
        option("page-threshold", or_word(SHARE, "auto"),
               "flag pages with a larger share of matching chunks; auto: mean + one deviation of "
               "all pages, but with --labels 0 (any known chunk, as `check` does) for fewer than "
               "1,000 pages, or if half of them have known content",
               commands=f"run {MUTATE}"),
        option("neighbourhood-threshold", or_word(SHARE, "auto"),
               "flag directories with a larger share; auto: the same of all directories",
               commands=f"run {MUTATE} {THRESHOLDS}"),
        option("neighbourhood-score", choice(*SCORES),
               "a directory's share: of all its chunks, or the mean of its pages"),
        option("matcher", choice(*MATCHERS),
               "match chunks by their exact hash, or also by similar Nilsimsa digests",
               commands="run labels check",
               used_by=("discovery",)),
        option("nilsimsa-threshold", NUMBERS,
               "least Nilsimsa score of a match; further numbers are only counted",
               "nilsimsa_thresholds", commands="run check"),
    ),
    counts={ON_SEVERAL_DOMAINS: "", IN_BACKGROUND: ""},
    check=require_use_of_labels,
)
