"""What overlap is. No Beam."""

from collections.abc import Collection

from beam_reuse.analyses.overlap.settings import OVERLAP_METHODS, OverlapSettings
from beam_reuse.declaring.about import About, Values
from beam_reuse.declaring.kinds import SHARE, WHOLE, WORDS, choice, or_word
from beam_reuse.declaring.option import option


def idle(given: Collection[str], values: Values) -> str:
    """Why a threshold does nothing: whole pages are equal or not."""
    chunkings = values.get("overlap-chunkings", OverlapSettings().chunkings)
    if "overlap-threshold" not in given or set(chunkings) != {"whole"}:
        return ""
    return ("--overlap-threshold does nothing with --overlap-chunkings whole: whole pages are "
            "equal or not. Add another chunking, such as --overlap-chunkings whole,2-lines, or "
            "leave it out.")


OVERLAP = About(
    name="overlap",
    settings=OverlapSettings,
    transform="beam_reuse.analyses.overlap.find:FindOverlap",
    tables="beam_reuse.analyses.overlap.schemas:TABLES",
    findings="beam_reuse.analyses.overlap.findings:overlap",
    report="beam_reuse.analyses.overlap.report:overlap",
    question="who shares lines with whom",
    help="""\
  exact_copies          pages with the same lines, and why: alias of a URL, of a server, copy
  page_overlap, server_overlap   how much of each page or host is in the other; mirrors
  replicas              how many pages have how many copies
  skippable, crawl_savings       pages that are copies of one that stays, or overlap it and have
                        nearly all of their own lines there: their URLs, and sums by host
  popular_collections   directories whose pages, or nearly all of each, are on several hosts""",
    options=(
        option("overlap-chunkings", WORDS,
               "how pages are cut to be compared: whole, N-lines, N-words, paragraph, sentence; "
               "small chunks find more; an inserted line shifts all later N-lines and N-words, so "
               "take 1-lines, paragraph or sentence (parsed anew) for edited copies and mirrors",
               "chunkings"),
        option("overlap-threshold", or_word(WORDS, "auto"),
               "pages overlap that share so many chunks: N, or such as 4-lines=15,2-lines=25; "
               "auto: 25 for up to 2 lines, 10 for paragraphs, else 15", "thresholds"),
        option("server-overlap-threshold", or_word(WORDS, "auto"),
               "the same for hosts, of which each is all its pages; auto: 25, whole pages 5",
               "server_thresholds"),
        option("mirror-containment", SHARE,
               "two hosts are mirrors if so much of each is on the other, and if of one only, this "
               "is a part", "mirror"),
        option("skip-containment", SHARE,
               "a page that is no exact copy is skippable only for one that has so much of its own "
               "lines, those that are not its host's template, and half of all its lines", "skip"),
        option("max-df", WHOLE,
               "chunks on more pages than this (for hosts: on more hosts) are crowds: each page is "
               "compared with the smallest URL and its next 10 only"),
        option("overlap-method", choice(*OVERLAP_METHODS),
               "count pairs coarsely first and ship only those that can reach the threshold, or "
               "ship all; the same tables either way", "method"),
    ),
    # Measures of the work have no sentence: findings speak of them.
    counts={
        "no-lines": "pages without lines take no part in overlap",
        "server-pairs-not-compared": "pairs of hosts that a chunk on more than --max-df hosts has "
                                     "were not compared for it",
        **dict.fromkeys((
            "overlap-fingerprints", "overlap-occurrences", "overlap-pairs-made",
            "overlap-pairs-kept", "overlap-fingerprints-too-frequent",
            "overlap-occurrences-too-frequent", "overlap-pairs-not-compared",
            "server-fingerprints-too-frequent"), ""),
    },
    idle=idle,
)
