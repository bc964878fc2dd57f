"""`check --trust first-use`: a store that learns by itself, and what a person decides about it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_reuse.cli.arguments import UsageError
from beam_reuse.core.finding import Finding
from beam_reuse.core.first_use import FirstUseSettings, LearntSite
from beam_reuse.core.settings import LEXBOR, StopSettings, naming
from beam_reuse.core.wording import counted
from beam_reuse.detector import Detector
from beam_reuse.io.files import local_path

FIRST_USE = "first-use"
_SETTINGS = {"min-evidence": "min_evidence", "max-age": "max_age", "learn-pages": "learn_pages"}
_DECIDING = ("join", "forget", "sites")
_ALLOWED = {"trust", "store", "json", "jsonl", "url", "learn", "debug", "stop-chunks", "parser",
            *_SETTINGS, *_DECIDING}
_PASSAGES_SHOWN = 10
_TEXT_SHOWN = 200


def learns_by_itself(values: Mapping[str, Any]) -> bool:
    return bool(values.get("trust") == FIRST_USE)


def refuse_contradictions(pages: Sequence[str], values: Mapping[str, Any]) -> None:
    """Options of the store without it, and others with it."""
    if not learns_by_itself(values):
        lone = [name for name in ("store", *_SETTINGS, *_DECIDING) if name in values]
        if lone:
            raise UsageError(f"check: --{lone[0]} is for a store that learns by itself: add "
                             f"--trust {FIRST_USE} --store FILE.")
        return
    if "store" not in values:
        raise UsageError(f"check: --trust {FIRST_USE} keeps what it learns in a file: give it with "
                         "--store FILE; one that does not exist is made.")
    other = [name for name in values if name not in _ALLOWED]
    if other:
        raise UsageError(f"check: --{other[0]} does not go with --trust {FIRST_USE}, which has "
                         "rules of its own (docs/edge.md) and no lists.")
    asked = [name for name in _DECIDING if name in values]
    if asked and (pages or "learn" in values or values.get("jsonl")):
        raise UsageError(f"check: --{asked[0]} checks no pages; give it alone.")
    if len(values.get("join", ("", ""))) < 2:
        raise UsageError("check: --join takes two domains or more: --join bank.com,bank-login.com.")


def make_detector(values: Mapping[str, Any]) -> Detector:
    with naming({field: f"--{name}" for name, field in _SETTINGS.items()}):
        settings = FirstUseSettings(**{
            field: values[name] for name, field in _SETTINGS.items() if name in values})
    stops = StopSettings(lists=tuple(map(local_path, values.get("stop-chunks", ()))))
    return Detector(local_path(values["store"]), trust=FIRST_USE, first_use=settings, stops=stops,
                    parser=values.get("parser", LEXBOR))


def is_decision(values: Mapping[str, Any]) -> bool:
    """Whether a person decides about a store, or looks at it, instead of checking pages."""
    return any(name in values for name in _DECIDING)


def decide(detector: Detector, values: Mapping[str, Any]) -> list[LearntSite]:
    """Join and forget domains; returns the sites that there are then."""
    first_use = detector.first_use
    if "join" in values:
        first_use.join(values["join"])
    for domain in values.get("forget", ()):
        first_use.forget(domain)
    return first_use.sites()


def describe_sites(sites: Sequence[LearntSite]) -> str:
    """Learnt sites for people."""
    lines = [f"{counted(len(sites), 'site')} learnt"]
    for site in sites:
        others = ", ".join(domain for domain in site.owner if domain != site.domain)
        lines.append(f"{site.domain}: {counted(site.chunks, 'passage')} of "
                     f"{counted(len(site.pages), 'page')}, seen on {counted(site.days, 'day')}"
                     + (f"; one owner with {others}" if others else ""))
        lines += [f"  {page}" for page in site.pages]
    return "\n".join(lines)


def describe_verdict(finding: Finding) -> Iterator[str]:
    """The lines below the first that a store has to say of a page."""
    verdict = finding.first_use
    if verdict is None:
        return
    if verdict.flagged:
        yield (f"  {counted(verdict.evidence, 'passage')} of {verdict.domain}, and this page is "
               "not there:")
        for passage in verdict.passages[:_PASSAGES_SHOWN]:
            text = passage.text[:_TEXT_SHOWN]
            yield f"  {passage.page}: {text}{'' if text == passage.text else '...'}"
        if len(verdict.passages) > _PASSAGES_SHOWN:
            yield f"  ... {len(verdict.passages) - _PASSAGES_SHOWN:,} more; --json shows all"
    if verdict.learnt:
        yield f"  learnt: {counted(verdict.new, 'new passage')}"
    elif verdict.login and not verdict.flagged:
        yield "  a login page, but not learnt: " + (
            "its http or https URL is not known; give it with --url" if finding.chunks
            else "it has no passage of five words")
