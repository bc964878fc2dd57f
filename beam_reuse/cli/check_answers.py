"""What `check` answers: JSON for programs, lines for people."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from beam_reuse.cli.trusting import describe_verdict
from beam_reuse.core.finding import Finding
from beam_reuse.core.wording import counted, percent

MATCHES_SHOWN = 10
SOURCES_SHOWN = 5


def describe(finding: Finding, name: str) -> str:
    """A finding for people: the verdict, whose content it is, where it is."""
    verdict = "FLAGGED" if finding.flagged else "not flagged"
    share = "no chunks that count" if finding.contains is None else (
        f"{finding.matching:,} of {finding.chunks:,} chunks known ({finding.contains:.1%})")
    lines = [f"{name}: {verdict}, {share}", *describe_verdict(finding)]
    if finding.own_matching:
        lines.append(f"  {counted(finding.own_matching, 'chunk')} of its own domain did not count")
    if finding.file_match or finding.own_file:
        whose = "its own" if finding.own_file else "known"
        lines.append(f"  the whole file is {whose}: {finding.file_source or 'source unknown'}")
    if finding.first_use is not None:
        return "\n".join(lines)
    if finding.sources:
        some = ", ".join(f"{s.name} ({s.matching:,})" for s in finding.sources[:SOURCES_SHOWN])
        more = len(finding.sources) - SOURCES_SHOWN
        lines.append(f"  from {some}" + (f" and {more:,} more" if more > 0 else ""))
    of_others = [match for match in finding.matches if not match.own]
    for match in of_others[:MATCHES_SHOWN]:
        others = f" and {match.sources - 1:,} more" if match.sources > 1 else ""
        alike = "" if match.score is None else f" (similar, score {match.score})"
        lines.append(f"  chunk {match.position}, bytes {match.start}-{match.end}: "
                     f"{match.source_url or match.sha1}{others}{alike}")
    if len(of_others) > MATCHES_SHOWN:
        lines.append(f"  ... {len(of_others) - MATCHES_SHOWN:,} more; --json shows all")
    lines += _described_items(finding)
    return "\n".join(lines)


def _described_items(finding: Finding) -> Iterator[str]:
    """Evaluation items that the page holds, most of them first."""
    if not finding.items:
        return
    yield (f"  {'CONTAMINATED' if finding.contaminated else 'not contaminated'}: grams of "
           f"{counted(len(finding.items), 'evaluation item')}")
    worst = sorted(finding.items, key=lambda item: -item.share)
    for item in worst[:MATCHES_SHOWN]:
        where = ", ".join(f"{span.start}-{span.end}" for span in item.spans[:SOURCES_SHOWN])
        yield f"  {percent(item.share)} of {item.eval} {item.id} ({item.field}), at tokens {where}"
    if len(worst) > MATCHES_SHOWN:
        yield f"  ... {len(worst) - MATCHES_SHOWN:,} more; --json shows all"


def put(answer: Mapping[str, Any]) -> None:
    """One JSON object on a line of its own, in UTF-8 and seen at once."""
    try:
        line = orjson.dumps(answer)
    except TypeError:  # a lone surrogate, from a file name that is not UTF-8
        line = json.dumps(answer).encode()
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """A line for people; what their terminal cannot show is escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.buffer.write(text.encode(encoding, "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()
