"""Random evaluation sets, and corpora in which some of their items are planted."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.oracles.decontaminate import Item
from tests.oracles.text import html5lib_tree, text_of
from tests.oracles.tokens import tokens

WORDS = [f"w{n}" for n in range(40)] + ["Ärger", "İstanbul", "ΣΑΣ", "漢字", "x²"]
MARKS = (" ", ", ", ".\n", " - ", "; ", "\n\n", "!? ")
PROMPT = "Choose the best answer of those below and give your reasons in one short sentence please"


def random_items(seed: int, count: int) -> list[dict[str, Any]]:
    """Rows of questions and answers: short, long, repeated, with a prompt, or of one word."""
    rng = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for number in range(count):
        kind = rng.random()
        words = rng.choices(WORDS, k=rng.choice((3, 7, 8, 9, 12, 13, 14, 20, 40)))
        if kind < 0.1 and rows:
            words = rng.choice(rows)["question"].split()
        elif kind < 0.3:
            words = [*PROMPT.split(), *words]
        elif kind < 0.35:
            words = ["same"] * rng.choice((8, 13, 30))
        row: dict[str, Any] = {"question": _joined(rng, words)}
        if rng.random() < 0.7:
            row["id"] = rng.choice((number, f"q{number}", f"é{number % 5}"))
        if rng.random() < 0.4:
            row["answer"] = _joined(rng, rng.choices(WORDS, k=rng.choice((1, 10, 25))))
        rows.append(row)
    return rows


def items_of(rows: Sequence[dict[str, Any]], name: str) -> list[Item]:
    """The items of rows in a file of this name."""
    return [Item(name, str(row.get("id", number)), field, row[field])
            for number, row in enumerate(rows) for field in row if field != "id"]


def _joined(rng: random.Random, words: Sequence[str]) -> str:
    return "".join(word + rng.choice(MARKS) for word in words)


def random_pages(seed: int, rows: Sequence[dict[str, Any]], count: int) -> list[dict[str, str]]:
    """Pages of random words with items in them: whole, cut, in other letters and other marks."""
    rng = random.Random(seed)
    pages = []
    for number in range(count):
        words: list[str] = []
        for _ in range(rng.choice((0, 1, 1, 2, 5))):
            words += rng.choices(WORDS, k=rng.randint(0, 30))
            row = rng.choice(rows)
            item = [word for word in row[rng.choice([each for each in row if each != "id"])].split()
                    if tokens(word)]
            first = rng.choice((0, 0, rng.randint(0, len(item))))
            last = rng.choice((len(item), len(item), rng.randint(first, len(item))))
            words += rng.choice((1, 1, 2)) * [
                rng.choice((str.upper, str.lower, str))(word) for word in item[first:last]]
        if rng.random() < 0.1:
            words += ["same"] * rng.randint(5, 200)
        url = f"http://{rng.choice('abc')}.example/{number}"
        text = _joined(rng, words)
        pages.append({"url": url, "html": f"<p>{text.replace('w1 ', '<b>w1</b> ')}</p>"}
                     if rng.random() < 0.5 else {"url": url, "text": text})
    return pages


def words_of(page: dict[str, str]) -> tuple[str, ...]:
    """The words of a page by their definition."""
    text = text_of(html5lib_tree(page["html"])) if "html" in page else page["text"]
    return tuple(tokens(text))


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
