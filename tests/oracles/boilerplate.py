"""Boilerplate by its definition: lines as texts, counted in dicts, host by host."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from tests.oracles.overlap import Page, Row, paragraphs
from tests.oracles.tokens import line_fingerprint, tokens


class Boilerplate:
    """Template lines of hosts, and both tables."""

    def __init__(self, pages: Sequence[Page], settings: BoilerplateSettings) -> None:
        self.pages = sorted(pages, key=lambda page: page.url)
        self.of_host: dict[str, list[Page]] = defaultdict(list)
        for page in self.pages:
            if page.lines:
                self.of_host[page.host].append(page)
        self.on: dict[tuple[str, str], list[Page]] = {}
        for host, mine in self.of_host.items():
            for line in {line for page in mine for line in page.lines}:
                having = [page for page in mine if line in page.lines]
                if (len(having) >= settings.min_pages
                        and len(having) / len(mine) >= settings.min_share):
                    self.on[host, line] = having

    def is_template(self, page: Page, line: str) -> bool:
        return (page.host, line) in self.on

    def boilerplate(self) -> list[Row]:
        rows: list[Row] = [{
            "host": host, "fingerprint": f"{line_fingerprint(line):016x}",
            "text": line[:200].encode("utf-8", "replace").decode(), "pages": len(having),
            "share": len(having) / len(self.of_host[host]), "position": position(line, having),
        } for (host, line), having in self.on.items()]
        return sorted(rows, key=lambda row: (str(row["host"]), str(row["fingerprint"])))

    def boilerplate_pages(self) -> list[Row]:
        rows: list[Row] = []
        for page in self.pages:
            template = [line for line in page.lines if self.is_template(page, line)]
            rows.append({
                "url": page.url, "lines": len(page.lines), "template_lines": len(template),
                "tokens": len(tokens(page.text)),
                "template_tokens": sum(len(tokens(line)) for line in template)})
        return rows

    def tables(self) -> dict[str, list[Row]]:
        return {"boilerplate": self.boilerplate(), "boilerplate_pages": self.boilerplate_pages()}


def position(line: str, pages: Sequence[Page]) -> float:
    """The lower median of the share of each page's lines above the line, in whole thousandths."""
    shares = sorted(1000 * page.lines.index(line) // len(page.lines) for page in pages)
    return shares[(len(shares) - 1) // 2] / 1000


def own_lines(page: Page, known: Boilerplate) -> list[tuple[str, int]]:
    """The lines of a page that are no template lines, each with the number of its paragraph."""
    found = []
    for number, paragraph in enumerate(paragraphs(page.text)):
        found += [(line, number) for line in paragraph if not known.is_template(page, line)]
    return found


def own_page(page: Page, known: Boilerplate) -> Page:
    """The page without its template lines; what is left of a paragraph is a paragraph."""
    kept: dict[int, list[str]] = defaultdict(list)
    for line, number in own_lines(page, known):
        kept[number].append(line)
    return replace(page, text="\f".join("\n".join(lines) for lines in kept.values()))


def own_places(page: Page, known: Boilerplate) -> list[int]:
    """The places on the page of the tokens that are left of it."""
    places, at = [], 0
    for line in page.lines:
        count = len(tokens(line))
        if not known.is_template(page, line):
            places += range(at, at + count)
        at += count
    return places
