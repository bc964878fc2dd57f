"""The few files that examples in docstrings are about."""

import json
from hashlib import sha1
from pathlib import Path


def words(name: str, count: int) -> list[str]:
    return [f"{name}{number}" for number in range(count)]


def paragraphs(some: list[str], size: int = 20) -> str:
    return "".join(f"<p>{' '.join(some[at:at + size])}\n" for at in range(0, len(some), size))


def example_pages() -> dict[str, str]:
    """HTML by URL: four pages and a quilt of them, a story and its mirror, a shop with a menu, and
    a page with a question of a test."""
    pages = {f"http://{name}.example/": paragraphs(words(name, 40))
             for name in ("ant", "bee", "cat", "dog")}
    pages["http://quilt.example/"] = paragraphs(
        [word for name in ("ant", "bee", "cat", "dog") for word in words(name, 15)], 15)
    story = words("story", 200)
    pages["http://news.example/story"] = paragraphs(story)
    pages["http://mirror.example/story"] = paragraphs([*story[:-1], "another"])
    for number in range(6):
        pages[f"http://shop.example/{number}"] = (
            "<div>Home Contact Imprint</div>\n" + paragraphs(words(f"goods{number}x", 20)))
    pages["http://leak.example/"] = paragraphs([*words("before", 10), *words("asked", 20)], 30)
    return pages


def write_examples(folder: Path) -> None:
    """`crawl/pages.jsonl`, `items.jsonl` (an evaluation file) and `labels.txt` (the hash of a
    chunk)."""
    (folder / "crawl").mkdir()
    (folder / "crawl" / "pages.jsonl").write_text("".join(
        json.dumps({"url": url, "html": html}) + "\n" for url, html in example_pages().items()))
    (folder / "items.jsonl").write_text(json.dumps(
        {"id": "q1", "question": " ".join(words("asked", 20))}) + "\n")
    (folder / "labels.txt").write_text(sha1(b"<div>Home Contact Imprint</div>").hexdigest() + "\n")
