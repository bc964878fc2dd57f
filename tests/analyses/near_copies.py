"""Random corpora of pages that are nearly the same, in every way that matters to signatures."""

import datetime
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from beam_reuse.core.urls import name_page
from tests.oracles.declared import canonical
from tests.oracles.images import image_token
from tests.oracles.near_duplicates import Page
from tests.oracles.text import html5lib_tree, text_of, values_of
from tests.oracles.tokens import fingerprint, tokens

HOSTS = ("a.example", "www.b.example", "x.b.example", "c.co.uk", "news.c.co.uk", "192.0.2.7")
TIMES = (None, "2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z", "2021-05-06T07:08:09Z")


@dataclass(frozen=True)
class Document:
    """A line of JSON Lines."""

    url: str
    content: str
    html: bool = False
    time: str | None = None

    @property
    def line(self) -> str:
        fields = {"url": self.url, "html" if self.html else "text": self.content}
        return json.dumps(fields | ({"timestamp": self.time} if self.time else {}))

    def page(self) -> Page:
        """The page by its definition."""
        name = name_page(self.url)
        tree = html5lib_tree(self.content) if self.html else []
        text = text_of(tree) if self.html else self.content
        words = [fingerprint(token) for token in tokens(text)]
        images = [image_token(source, None, name) for source in values_of(tree, {"img"})]
        time = self.time and datetime.datetime.fromisoformat(self.time)
        return Page(name.url, name.site, (*words, *(fingerprint(i) for i in images if i)),
                    len(words), time, name.domain, self.content.encode(),
                    canonical(self.url, self.content) if self.html else None)


def random_documents(seed: int, count: int, texts: int = 0, words_more: int = 0) -> list[Document]:
    """Pages from few texts: copies, near-copies, the same words in another order, the same
    passages repeated, short ones and empty ones. Few `texts` with many words make crowds."""
    rng = random.Random(seed)
    vocabulary = [f"word{n}" for n in range(60)]
    bases = [rng.choices(vocabulary, k=rng.randint(10, 60) + words_more)
             for _ in range(texts or max(2, count // 12))]
    found = []
    for n in range(count):
        words = list(rng.choice(bases))
        way = rng.random()
        if way < 0.25 or (words_more and way > 0.7):
            for _ in range(rng.randint(1, 3)):
                words[rng.randrange(len(words))] = rng.choice(vocabulary)
        elif way < 0.35:
            rng.shuffle(words)
        elif way < 0.5:
            words = words * 3 + words[: rng.randint(0, 9)]
        elif way < 0.6:
            words = words[: rng.randint(0, 9)]
        elif way < 0.7:
            words.insert(rng.randrange(len(words)), str(rng.randint(0, 3)))
        found.append(_document(rng, n, words, [document.url for document in found[-9:]]))
    return found


def _document(
    rng: random.Random, n: int, words: Sequence[str], others: Sequence[str],
) -> Document:
    """A page, of HTML or text; one of HTML may declare one of the others canonical."""
    url = f"http://{rng.choice(HOSTS)}/{rng.choice(('x', 'long', '?q='))}/{n}"
    html = rng.random() < 0.3
    images = "".join(f"<img src=/i/{rng.randint(1, 2)}.png>" for _ in range(rng.randint(0, 2)))
    declares = others and rng.random() < 0.6
    link = f"<link rel=canonical href={rng.choice(others)}>" if declares else ""
    content = f"{link}<p>{' '.join(words)}</p>{images}" if html else " ".join(words)
    return Document(url, content, html, rng.choice(TIMES))


def write(path: Path, documents: Sequence[Document]) -> Path:
    path.write_text("".join(f"{document.line}\n" for document in documents))
    return path
