"""What origins are. No Beam."""

from dataclasses import dataclass

from beam_reuse.declaring.about import About


@dataclass(frozen=True)
class OriginSettings:
    """There is nothing to set."""


ORIGINS = About(
    name="origins",
    settings=OriginSettings,
    transform="beam_reuse.analyses.origins.find:FindOrigins",
    tables="beam_reuse.analyses.origins.schemas:TABLES",
    findings="beam_reuse.analyses.origins.findings:origins",
    question="who is the likely original of pages that are copies, and of hosts that overlap",
    help="""\
  origins               each set of copies and pair of hosts: the original, and what says so
                        (comes with overlap and near-duplicates)""",
    follows=("overlap", "near-duplicates"),
)
