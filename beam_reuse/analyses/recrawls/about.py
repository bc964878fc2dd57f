"""What recrawls are. No Beam."""

from dataclasses import dataclass

from beam_reuse.declaring.about import About


@dataclass(frozen=True)
class RecrawlSettings:
    """There is nothing to set."""


RECRAWLS = About(
    name="recrawls",
    settings=RecrawlSettings,
    transform="beam_reuse.analyses.recrawls.find:FindRecrawls",
    tables="beam_reuse.analyses.recrawls.schemas:TABLES",
    findings="beam_reuse.analyses.recrawls.findings:recrawls",
    question="which pages are new, and what became of those that were fetched before",
    help="""\
  recrawled             each page that is in the baseline, too: same bytes, same words, near, other
                        (comes with --baseline)""",
    follows=("discovery", "detection", "near-duplicates", "overlap", "quilts", "boilerplate"),
)
