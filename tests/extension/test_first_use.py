"""The extension's trust on first use, under Node: the sequences that all implementations are held
to, and random visits against the slow rules."""

import json
import random
from pathlib import Path
from typing import Any

from tests.extension.node import ask
from tests.oracles import first_use
from tests.oracles.text import html5lib_tree
from tests.oracles.text_chunks import chunk_texts

VECTORS = Path(__file__).parents[1] / "vectors" / "first_use.json"
NAMES = {"min_evidence": "minEvidence", "settle_days": "settleDays", "max_age": "maxAge",
         "max_sites": "maxSites", "max_site_chunks": "maxSiteChunks", "learn_pages": "learnPages"}
PASSAGES = [*(f"A passage of five words or more, number {n}" for n in range(22)),
            "Here is a list of all modules:", "Four words are few."]


def sequences() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(VECTORS.read_text())["sequences"]
    return found


def as_asked(settings: dict[str, Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    """A sequence with pages as what a browser would have read of them."""
    return {"settings": {NAMES[name]: value for name, value in settings.items()},
            "steps": [{"act": step["do"], **step, **read(step)} for step in steps]}


def read(step: dict[str, Any]) -> dict[str, Any]:
    if "html" not in step:
        return {}
    return {"html": "", "texts": chunk_texts(html5lib_tree(step["html"])),
            "password": first_use.has_password(step["html"])}


def test_vectors(built: Path) -> None:
    all_of_them = sequences()
    assert len(all_of_them) > 20
    answers = ask(built, "sequence", [
        as_asked(one["settings"], one["steps"]) for one in all_of_them])
    for one, found in zip(all_of_them, answers, strict=True):
        assert found == [step.get("expect") for step in one["steps"]], one["name"]


def test_random_visits_are_answered_by_the_rules(built: Path) -> None:
    asked, wanted = [], []
    for seed in range(10):
        chance = random.Random(seed)
        settings = {"min_evidence": chance.randint(1, 3), "settle_days": chance.randint(1, 3),
                    "max_age": chance.randint(1, 6), "max_sites": chance.randint(1, 6),
                    "max_site_chunks": chance.randint(1, 8)}
        steps = [random_step(chance, at // 8) for at in range(100)]
        known = first_use.FirstUse(first_use.Rules(**settings))
        wanted.append([by_rules(known, step) for step in steps])
        asked.append(as_asked(settings, steps))
    assert ask(built, "sequence", asked) == wanted
    answers = [answer for found in wanted for answer in found if isinstance(answer, dict)]
    assert sum(answer["flagged"] for answer in answers) > 30


def test_addresses_by_which_pages_are_learnt(built: Path) -> None:
    chance = random.Random(3)
    steps, wanted = [], []
    for _ in range(300):
        url = "https://a-b.example/" + "".join(chance.choices("ab-?+$(/", k=chance.randint(0, 6)))
        pattern = "".join(letter if chance.random() < .8 else "*" for letter in url)
        wanted.append(first_use.fits(pattern, first_use.canonical(url)))
        step = {"do": "visit", "url": url, "html": "", "day": 1}
        steps.append(as_asked({"learn_pages": [pattern]}, [step]))
        steps.append(as_asked({"learn_pages": [pattern + "x"]}, [step]))
        wanted.append(first_use.fits(pattern + "x", first_use.canonical(url)))
    assert [found[0]["login"] for found in ask(built, "sequence", steps)] == wanted
    assert 100 < sum(wanted) < 500


def random_step(chance: random.Random, day: int) -> dict[str, Any]:
    domains = [f"{name}.example" for name in "abcdefgh"]
    kind = chance.choices(["visit", "trust", "join", "forget", "sites"], [30, 2, 1, 1, 3])[0]
    if kind == "join":
        return {"do": kind, "domains": chance.sample(domains, 2)}
    if kind == "forget":
        return {"do": kind, "domain": chance.choice(domains)}
    if kind == "sites":
        return {"do": kind}
    start = chance.randrange(len(PASSAGES))
    shown = [PASSAGES[(start + at) % len(PASSAGES)] for at in range(chance.randint(0, 9))]
    field = "<input type=password>" if chance.random() < .7 else ""
    return {"do": kind, "url": f"https://www.{chance.choice(domains)}/{chance.randrange(3)}?q",
            "day": 20_000 + day + chance.randint(-1, 1),
            "html": "".join(f"<p>{text}" for text in shown) + field}


def by_rules(known: Any, step: dict[str, Any]) -> Any:
    if step["do"] == "sites":
        return known.listed()
    if step["do"] in ("join", "forget"):
        return getattr(known, step["do"])(step.get("domains") or step["domain"])
    return getattr(known, step["do"])(step["url"], step["html"], step["day"])
