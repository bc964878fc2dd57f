"""Random corpora of pages and hosts that share lines, in every way that matters to overlap."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.oracles.declared import canonical
from tests.oracles.overlap import Page
from tests.oracles.text import html5lib_tree, text_of

HOSTS = ("a.example", "www.b.example", "b.example", "c.co.uk", "mirror.example", "m.example")
ENDS = (".", "!", "?", "。", ",", "")


@dataclass(frozen=True)
class Document:
    """A line of JSON Lines."""

    url: str
    content: str
    html: bool = False
    ip: str = ""

    @property
    def line(self) -> str:
        fields = {"url": self.url, "html" if self.html else "text": self.content}
        return json.dumps(fields | ({"ip": self.ip} if self.ip else {}))

    def page(self) -> Page:
        text = (text_of(html5lib_tree(self.content)) if self.html
                else "\n".join(self.content.splitlines()))
        return Page(self.url, text, len(self.content.encode()), self.ip or None,
                    canonical(self.url, self.content) if self.html else None)


def random_documents(seed: int, count: int) -> list[Document]:
    """Pages from few lines: exact copies on one host and on several, mirrored hosts, parts of
    others, pages with menus that all have, and empty ones; some hosts share an address."""
    rng = random.Random(seed)
    pool = [f"line {n} of the pool{rng.choice(ENDS)} Then more{rng.choice(ENDS)}"
            for n in range(3 * count)]
    bases = [rng.sample(pool, rng.randint(1, 40)) for _ in range(max(2, count // 5))]
    found: dict[str, Document] = {}
    for n in range(count):
        body = list(rng.choice(bases))
        way = rng.random()
        if way < 0.3:
            body[rng.randrange(len(body))] = f"own line {n}"
        elif way < 0.4:
            body = rng.sample(pool, rng.randint(1, 12)) + body
        elif way < 0.5:
            body = body * 2
        elif way < 0.55:
            body = [" "]
        if rng.random() < 0.2:
            body = ["the menu", "of all pages", *body]
        host = rng.choice(HOSTS[:4])
        path = f"{rng.choice(('', 'x/', 'x/y/', 'z/'))}{n}{rng.choice(('', '?q=/'))}"
        for each in {host, *(HOSTS[4:] if host == "a.example" and rng.random() < 0.95 else ())}:
            document = _document(rng.random() < 0.3, f"http://{each}/{path}", body,
                                 _address(each, rng))
            if document.html and rng.random() < 0.3:
                link = f"<link rel=canonical href={rng.choice([*found, document.url])}>"
                document = replace(document, content=link + document.content)
            found[document.url] = document
    return sorted(found.values(), key=lambda document: rng.random())


def crowded_documents(seed: int, count: int) -> list[Document]:
    """Pages of which most share some of a few lines, each on one of many hosts, in no order: a page
    that others vary, menus, and lines that only some neighbours have in common."""
    rng = random.Random(seed)
    menu = [f"entry {n}" for n in range(8)]
    texts = [[f"text {t}, line {n}." for n in range(14)] for t in range(3)]
    found = []
    for n in range(count):
        body = [line for line in rng.choice(texts) if rng.random() < 0.8]
        body = [line for line in menu if rng.random() < 0.7] + body
        body += [f"of some {k}" for k in rng.sample(range(count // 4), rng.randint(0, 3))]
        if rng.random() < 0.5:
            body.append(f"own {n}")
        host = f"{rng.choice('abcd')}{rng.randrange(count // 2)}.example"
        found.append(_document(rng.random() < 0.1, f"http://{host}/{rng.randrange(3)}/{n}", body,
                               rng.choice(("", "192.0.2.1", "192.0.2.2"))))
    return found


def _address(host: str, rng: random.Random) -> str:
    """Two hosts on one address, one of them on two; some pages without any."""
    known = {"www.b.example": "192.0.2.1", "b.example": rng.choice(("192.0.2.1", "192.0.2.2")),
             "c.co.uk": "192.0.2.9"}
    return known.get(host, "") if rng.random() < 0.7 else ""


def _document(html: bool, url: str, body: Sequence[str], ip: str) -> Document:
    if html:
        return Document(url, "".join(f"<p>{line}</p>" for line in body), True, ip)
    return Document(url, "\n\n".join(
        "\n".join(body[i : i + 5]) for i in range(0, len(body), 5)), False, ip)


def write(path: Path, documents: Sequence[Document]) -> Path:
    path.write_text("".join(f"{document.line}\n" for document in documents))
    return path
