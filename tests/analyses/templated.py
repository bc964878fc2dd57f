# ruff: noqa: RUF001 (letters that look alike are the point)
"""Random corpora of hosts with templates: lines at the threshold, above and below it."""

import random

from tests.analyses.overlapping import Document

HOSTS = ("a.example", "b.example", "www.b.example", "c.co.uk", "few.example")
ODD = ("Über uns © 2026", "ΑΣ ΣΑΣ", "İstanbul I ı", "日本語の行", "a " * 150, "— · —", "x" * 250)


def templated_documents(seed: int, count: int) -> list[Document]:
    """Pages of lines of their host's template, some of them repeated on a page, some on nearly as
    many pages as a template line, and lines of their own; some pages have nothing else, some no
    line at all; as HTML and as plain text."""
    rng = random.Random(seed)
    templates = {}
    for host in HOSTS:
        lines = [*rng.sample(ODD, 3), *(f"menu {n} of {host}" for n in range(9)), "Impressum"]
        templates[host] = [(line, rng.choice((0.03, 0.09, 0.1, 0.11, 0.3, 0.9, 1.0)))
                           for line in lines]
    found: dict[str, Document] = {}
    for n in range(count):
        host = "few.example" if rng.random() < 0.04 else rng.choice(HOSTS[:4])
        frame = [line for line, chance in templates[host] if rng.random() < chance]
        own = [f"line {rng.randrange(4 * count)} of page {n}" for _ in range(rng.randint(0, 12))]
        if rng.random() < 0.3:
            own.append(f"often {rng.randrange(count // 12)} on {host}")
        at = rng.randint(0, len(frame))
        body = [*frame[:at], *own, *frame[at:], *rng.choices(frame or own or [""], k=2)]
        if rng.random() < 0.05:
            body = [" "]
        found[f"http://{host}/{n}"] = document(f"http://{host}/{n}", body, rng)
    return sorted(found.values(), key=lambda document: rng.random())


def document(url: str, body: list[str], rng: random.Random) -> Document:
    """The page in one of the forms that give the same lines, in paragraphs of some lines."""
    size = rng.randint(1, 4)
    groups = [body[i:i + size] for i in range(0, len(body), size)]
    if rng.random() < 0.5:
        return Document(url, "".join(f"<p>{'<br>'.join(group)}</p>" for group in groups), True)
    return Document(url, "\n\n".join("\n".join(group) for group in groups))


def similar_documents(seed: int, count: int) -> list[Document]:
    """Pages in the templates of their hosts whose own lines are those of other pages, with changes:
    copies, near copies and parts of them, on one host and on several; some with images, some of
    template lines alone, template lines between their own."""
    rng = random.Random(seed)
    words = [f"word{n}" for n in range(400)]
    frames = {host: [" ".join(rng.choices(words, k=rng.randint(1, 9))) + rng.choice((".", ""))
                     for _ in range(14)] for host in HOSTS}
    bodies = [[" ".join(rng.choices(words, k=rng.randint(2, 12))) + rng.choice((".", "", " ! x"))
               for _ in range(rng.randint(2, 30))] for _ in range(max(2, count // 6))]
    found: dict[str, Document] = {}
    for n in range(count):
        body, host = list(rng.choice(bodies)), rng.choice(HOSTS[:4])
        for _ in range(rng.choice((0, 0, 1, 3))):
            body[rng.randrange(len(body))] = f"changed {rng.randrange(count)} on {n}"
        if rng.random() < 0.2:
            body = rng.choice(bodies)[:4] + rng.choice(bodies)[-5:] + body[:3]
        if rng.random() < 0.07:
            body = []
        for line in rng.sample(frames[host], rng.randint(5, 14)):
            body.insert(rng.randint(0, len(body)), line)
        page = document(f"http://{host}/{n}", body, rng)
        if page.html and rng.random() < 0.5:
            image = f'<img src="/i/{rng.choice(words)}.png">'
            page = Document(page.url, page.content + image, True)
        found[page.url] = page
    return sorted(found.values(), key=lambda document: rng.random())
