"""Random corpora of pages that are stitched from passages of others, with links and addresses."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from beam_reuse.core.urls import BadUrl, name_page, resolve_url
from tests.oracles.quilts import Page
from tests.oracles.text import html5lib_tree, text_of, values_of
from tests.oracles.tokens import tokens

HOSTS = ("a.example", "www.b.example", "x.b.example", "c.co.uk", "news.c.co.uk", "192.0.2.7",
         "d.example", "e.example")
ADDRESSES = ("", "198.51.100.1", "198.51.100.2", "2001:db8::1")


@dataclass(frozen=True)
class Patchwork:
    """A line of JSON Lines."""

    url: str
    content: str
    html: bool = False
    address: str = ""

    @property
    def line(self) -> str:
        fields = {"url": self.url, "html" if self.html else "text": self.content}
        return json.dumps(fields | ({"ip": self.address} if self.address else {}))

    def page(self, addresses: Mapping[str, str] | None = None) -> Page:
        """The page by its definition."""
        name = name_page(self.url)
        tree = html5lib_tree(self.content) if self.html else []
        text = text_of(tree) if self.html else self.content
        base = next(iter(values_of(tree, {"base"})), None)
        start = name.url if base is None else resolve_url(name.url, base)
        links = []
        for link in values_of(tree, {"a"}):
            try:
                to = name_page(resolve_url(start, link))
            except BadUrl:
                continue
            links.append((to.url, to.domain))
        address = self.address or (addresses or {}).get(name.host, "")
        return Page(name.url, name.domain, tuple(tokens(text)), address, tuple(links))


def patchworks(seed: int, count: int, vocabulary: int = 300) -> list[Patchwork]:
    """Pages of passages from few texts; some are repeated, whole copies, short or empty."""
    rng = random.Random(seed)
    words = [f"w{n}" for n in range(vocabulary)]
    texts = [rng.choices(words, k=80) for _ in range(10)]
    urls = [f"http://{rng.choice(HOSTS)}/{rng.choice('xyz')}/{n}" for n in range(count)]
    found = []
    earlier = [texts[1]]
    for url in urls:
        mine: list[str] = []
        for _ in range(rng.randint(1, 7)):
            text, start = rng.choice(texts), rng.randrange(70)
            mine += text[start:start + rng.randint(3, 25)]
            if rng.random() < 0.3:
                mine += rng.choices(words, k=rng.randint(1, 12))
        way = rng.random()
        if way < 0.1:
            mine = mine[:rng.randint(0, 6)]
        elif way < 0.2:
            mine = texts[0]
        elif way < 0.3:
            mine = mine * 2
        elif way < 0.5:
            mine = _copied(rng, rng.choice(earlier[-8:]), words)
        earlier.append(mine)
        found.append(_written(rng, url, " ".join(mine), urls))
    return found


def _copied(rng: random.Random, copied: list[str], words: list[str]) -> list[str]:
    """Nearly the same words, all of them and more, or most of them."""
    changed = [rng.choice(words) if rng.random() < 0.02 else word for word in copied]
    longer = [*copied, *rng.choices(words, k=rng.randint(1, 60))]
    return rng.choice([copied, changed, changed, longer, copied[:len(copied) * 19 // 20]])


def _written(rng: random.Random, url: str, text: str, urls: Sequence[str]) -> Patchwork:
    address = rng.choice(ADDRESSES)
    if rng.random() < 0.4:
        return Patchwork(url, text, False, address)
    to = rng.sample(urls, min(len(urls), 15))
    links = [to[0].upper().replace("HTTP", "Http") if rng.random() < 0.2 else to[0],
             to[1].removeprefix("http:"), "/x/1", "y/2#part", to[2].rpartition("/")[0] + "/none",
             "mailto:a@b.example", "http://[bad", " \t" + to[2] + "#there"]
    some = "".join(f"<a href='{link}'></a>" for link in rng.sample(links, rng.randint(0, 6)))
    some += "".join(f"<a href='{link}'></a>" for link in to[3:] if rng.random() < 0.8)
    base = f"<base href='http://{rng.choice(HOSTS)}/x/'>" if rng.random() < 0.3 else ""
    return Patchwork(url, f"{base}<p>{text}</p>{some}", True, address)


def write(path: Path, documents: Sequence[Patchwork]) -> Path:
    path.write_text("".join(f"{document.line}\n" for document in documents))
    return path
