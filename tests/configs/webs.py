"""Small webs with known reuse in them: what each config must find, and what it must not."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from beam_reuse.demo.prose import Prose

Pages = dict[str, str]


@dataclass(frozen=True)
class Web:
    """A crawl, the originals if there are any, and the URLs of what is planted."""

    crawl: Pages
    originals: Pages = field(default_factory=dict)
    planted: frozenset[str] = frozenset()
    missed: frozenset[str] = frozenset()

    def write(self, folder: Path) -> None:
        """`crawl.jsonl` and `originals.jsonl` in `folder`."""
        write_pages(folder / "crawl.jsonl", self.crawl)
        write_pages(folder / "originals.jsonl", self.originals)


def write_pages(path: Path, pages: Mapping[str, str]) -> None:
    path.write_text("".join(
        json.dumps({"url": url, "html": html}) + "\n" for url, html in pages.items()))


def paragraphs(seed: str, count: int) -> list[str]:
    prose = Prose(seed)
    return [f"<p>{prose.paragraph(3)}</p>" for _ in range(count)]


def html(title: str, chunks: Iterable[str]) -> str:
    """A page of chunks between a head and a foot of its own."""
    head = f"<!doctype html><html><head><title>{title}</title></head><body>"
    return "\n".join([head, *chunks, f"<div class=foot>{title}</div></body></html>"])


def encyclopaedia() -> Web:
    """An encyclopaedia; a mirror of it; a site that lifts half of its text from it; a blog with
    one quotation; and a site that has nothing to do with it. The crawl holds the original, too."""
    articles = {f"Article_{n}": paragraphs(f"article {n}", 6) for n in range(12)}
    menu = "<div class=menu><a href=/>Home</a> <a href=/all>All</a></div>"
    originals = {f"https://en.pedia.example/wiki/{name}": html(name, [menu, *chunks])
                 for name, chunks in articles.items()}
    mirror = {f"http://www.mirror.example/w/{name}.html": html(
        f"{name} on Mirror", ["<div id=ad>Buy now</div>", *chunks, "<p>Mirror of the week</p>"])
        for name, chunks in list(articles.items())[:8]}
    lifted = {f"http://knowledge.example/read/{name}": html(
        f"All about {name}", [*paragraphs(f"own {name}", 3), *chunks[:3]])
        for name, chunks in list(articles.items())[4:10]}
    blog = {f"http://blog.example/{n}/": html(f"Day {n}", paragraphs(f"blog {n}", 8))
            for n in range(12)}
    blog["http://blog.example/quote/"] = html("A quotation", [
        *paragraphs("quoting", 8), articles["Article_1"][2]])
    news = {f"http://news.example/2024/{n}": html(f"News {n}", paragraphs(f"news {n}", 5))
            for n in range(15)}
    return Web({**originals, **mirror, **lifted, **blog, **news}, originals,
               frozenset({*mirror, *lifted}))


LEGAL = "<p>Harbour Bank is a trading name of Harbour Holdings, registered under number 0815.</p>"
HELP = "<div>Forgotten your password? Call us on 0800 555 0199.</div>"


def bank() -> Web:
    """A bank's pages; copies of them with other form targets, one with only the last line of
    the original and one written anew; other login pages that share short mark-up with it."""
    originals = {f"https://www.bank.example/{name}": login(name, "/session") for name in (
        "login", "reset", "transfer")}
    phish = {
        f"http://secure-{name}.bad{n}.example/bank/index.php": login(
            name, f"http://collect{n}.example/grab.php?id={n}")
        for n, name in enumerate(("login", "reset", "transfer", "login"))
    }
    phish["http://free-host.example/~u17/hb.html"] = html("Bank", [
        "<div class=row>", "<p>Please confirm your identity within 24 hours to avoid closure.</p>",
        '<div><form action="http://x.example/"><input name=user><input name=pin></form></div>',
        LEGAL])
    anew = {"http://harbour-bank.bad9.example/": html("Harbour Bank, log in", [
        "<div class=row>", '<div><img src="screenshot-of-the-real-page.png" width=900></div>',
        '<div><form action="http://y.example/"><input name=user></form></div>'])}
    others = {
        f"https://shop{n}.example/login": html(f"Shop {n}", [
            "<div class=row>", "<p>Log in</p>", "<div class=col>", "<p>Forgot it?</p>",
            f'<div><form action="/session/{n}"><input name=user><input name=password></form></div>',
            *paragraphs(f"shop {n}", 2)])
        for n in range(10)
    }
    return Web({**originals, **phish, **anew, **others}, originals, frozenset(phish),
               frozenset(anew))


def login(name: str, target: str) -> str:
    """One of the bank's pages, its form sent to `target`."""
    return html("Harbour Bank", [
        "<div class=row>", "<p>Log in</p>", f"<div class=col>Welcome to {name}, dear customer.",
        f'<div><form action="{target}"><input name=user><input name=password></form></div>',
        HELP, "<p>Forgot it?</p>", LEGAL])


FARM = ("farm-one.example", "farm-two.example", "farm-three.example")


def farms() -> Web:
    """Ordinary sites with menus of their own, a press release on many of them, and three hosts
    of a link farm made of the same eight passages."""
    release, farmed = paragraphs("press release", 1), paragraphs("farm", 8)
    crawl: Pages = {}
    planted = set()
    for n in range(9):
        menu = f"<div class=menu>{Prose(f'menu {n}').paragraph(2)}</div>"
        for page in range(14):
            own = paragraphs(f"site {n} page {page}", 6)
            crawl[f"http://site{n}.example/p/{page}"] = html(
                f"Site {n}, page {page}", [menu, *own, *(release if page < 2 else [])])
    for host in FARM:
        for page in range(6):
            url = f"http://{host}/{page}.html"
            planted.add(url)
            crawl[url] = html(f"{host} {page}", [
                *farmed, f"<div><a href=http://target.example/{page}>{host}</a></div>"])
    return Web(crawl, planted=frozenset(planted))


def copied_passages() -> set[str]:
    """The passages of `farms` that occur on three hosts or more, as chunks."""
    return {*paragraphs("press release", 1), *paragraphs("farm", 8)}


def scrapers() -> Web:
    """Sites with articles of their own; two spam domains whose pages are paragraphs of many of
    these; a digest that does the same but links to its sources; a site that republishes articles
    of one other, and pages of one owner that share paragraphs. `planted` are spam and digest."""
    articles = {
        f"http://www.site{n}.example/{page}": paragraphs(f"site {n} page {page}", 8)
        for n in range(12) for page in range(4)}
    crawl = {url: html(f"Article {url}", chunks) for url, chunks in articles.items()}
    urls = sorted(articles)
    planted: dict[str, str] = {}
    for n in range(10):
        taken = [urls[(7 * n + 5 * i) % len(urls)] for i in range(8)]
        patches = [articles[url][(n + i) % 8] for i, url in enumerate(taken)]
        if n < 8:
            planted[f"http://{'cheap' if n % 2 else 'best'}-pills.example/{n}.html"] = html(
                "", ["<p><a href=http://shop.example/buy>Buy now</a></p>", *patches])
        else:
            links = [f"<a href={url}>source</a>" for url in taken]
            planted[f"http://digest.example/week-{n}"] = html(f"Week {n}", [*links, *patches])
    again = {f"http://again.example/{n}": html(f"Again {n}", articles[urls[n]])
             for n in range(6)}
    own = {f"http://news{n}.owner.example/": html(f"Edition {n}", [
        paragraphs(f"owner {(n + i) % 6}", 1)[0] for i in range(5)]) for n in range(6)}
    return Web({**crawl, **planted, **again, **own}, planted=frozenset(planted))


def manuals() -> Web:
    """A manual in three releases on one site, a mirror of the last one elsewhere, pages with the
    same words typed another way, and a site that has nothing to do with it; `planted` is what is
    to be dropped."""
    chapters = {n: Prose(f"chapter {n}").paragraph(150) for n in range(8)}
    crawl = {
        f"http://docs.tool.example/{release}/chapter-{n}.html": html(
            f"Chapter {n}", [f"<p>{text} Since version {release}.</p>"])
        for release in (1, 2, 3) for n, text in chapters.items()}
    crawl |= {f"http://mirror.example/tool/the-manual/{n}.html": html(f"Chapter {n}", [
        f"<div>{text.replace('.', ';')} Since version 3!</div>"]) for n, text in chapters.items()}
    others = {f"http://news.example/{n}.html": html(f"News {n}", paragraphs(f"news {n}", 12))
              for n in range(20)}
    return Web({**crawl, **others}, planted=frozenset(
        url for url in crawl if "tool.example/1/" not in url))


def mirrors() -> Web:
    """A manual in two releases, the second also at a mirror, under a second URL, and in another
    design at a third host; and a site that has nothing to do with it. `planted` is what need not
    be fetched."""
    chapters = {n: [f"<p>{sentence}</p>" for sentence in _sentences(f"manual {n}", 80)]
                for n in range(4)}
    second = {n: [*lines[:-1], f"<p>New in chapter {n}.</p>"] for n, lines in chapters.items()}
    crawl = {f"http://docs.tool.example/{release}/{n}.html": html(f"Chapter {n}", lines[n])
             for release, lines in ((1, chapters), (2, second)) for n in lines}
    crawl |= {f"http://mirror.example/tool/{n}.html": html(f"Chapter {n}", lines)
              for n, lines in second.items()}
    crawl["http://docs.tool.example/2/0.html?session=1"] = html("Chapter 0", second[0])
    redundant = {url for url in crawl if "tool.example/1/" not in url}
    crawl |= {f"http://redesign.example/{n}/": html(f"Read chapter {n}", [
        each for line in lines for each in ("<div>Advertisement</div>", line)])
        for n, lines in second.items()}
    others = {f"http://news.example/{n}.html": html(f"News {n}", [
        f"<p>{sentence}</p>" for sentence in _sentences(f"news {n}", 70)]) for n in range(6)}
    return Web({**crawl, **others}, planted=frozenset(redundant))


def _sentences(seed: str, count: int) -> list[str]:
    prose = Prose(seed)
    return [prose.sentence() for _ in range(count)]
