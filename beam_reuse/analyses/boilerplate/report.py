"""What boilerplate shows in the report."""

from collections.abc import Iterator

from beam_reuse.analyses.boilerplate.schemas import BOILERPLATE_PAGES
from beam_reuse.io.results.result import Result
from beam_reuse.report.histogram import share_plot
from beam_reuse.report.parts import Shown, parts
from beam_reuse.report.values import Figure

_SHARE = "template_tokens / nullif(tokens, 0)"


def boilerplate(there: Result) -> Iterator[Shown]:
    """How much of pages is their host's template."""
    return parts(there, (_shares, (BOILERPLATE_PAGES,)))


def _shares(there: Result) -> Iterator[Figure]:
    yield from share_plot(
        there, BOILERPLATE_PAGES, ("tokens", "template_tokens"), _SHARE,
        "How much of a page is its host's template",
        " Pages on the right are menus and footers, with little of their own.",
        "template text", "pages with text")
