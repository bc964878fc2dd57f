"""Detection of copied pages on labelled data made of real ones: by target, by kit, by evidence.

    python benchmarks/phishing.py DEBDOCS... -o OUT [--fronts 2] [--unrelated 10000] [--seed 1]

DEBDOCS are folders with `manifest.tsv` and `html/`: documentation of packages, of which all
versions and languages of a product are one site, and products of one owner, too (those below; the
lists of packages beside this name the site of others, whose home pages are on one domain).
Originals are the front pages of every version (a login form is added to each). Suspects are copies
of them by kits (kits.py), each on a domain of its own, and unrelated pages of all sites, which have
what is their own; other pages are the background. Labels are made, the suspects checked and judged
by the commands of configs/phishing.yaml; then the same visits go through a store that trusts on
first use. In OUT: the corpus, the labels, the result, the figures.
"""

import argparse
import csv
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from kits import KITS

from beam_reuse.detector.generic import GENERIC

CONFIG = Path(__file__).parents[1] / "configs" / "phishing.yaml"
FORM = '<form action="/in"><input name="user"><input type="password" name="secret"></form>'
LARGEST = 1 << 20
FAMILIES = ("installation-guide", "libreoffice-help", "debian-reference")
# Several products of one owner, who would have one domain or join them.
OWNERS = {
    "pallets": "click flask jinja werkzeug", "celery": "amqp celery kombu",
    "openstack": "cinder freezer glance heat ironicclient networking-bgpvpn neutron nova "
                 "octaviaclient openstackclient oslo ovsdbapp pbr swift trove",
    "document-liberation": "libmspub libvisio", "haskell-gi": "libghc-gi-gdk libghc-gi-pango",
}
LISTED = {words[1]: words[2] for path in Path(__file__).parent.glob("*_packages.txt")
          for line in path.read_text().splitlines()
          if not line.startswith("#") and len(words := line.split()) == 3}


@dataclass(frozen=True)
class Page:
    """A real page: whose it is, and where."""

    site: str
    url: str
    file: Path

    def html(self) -> str:
        return self.file.read_bytes().decode("utf-8", "replace")


def site_of(package: str) -> str:
    """The product that a package documents, in all its versions and languages, or its owner."""
    if package in LISTED:
        return LISTED[package]
    for family in FAMILIES:
        if package.startswith(family):
            return family
    name = re.split(r"[\d.]*-docs?\b|[\d.]+|-java|-doc-", package.removeprefix("python-"))[0]
    product = re.sub(r"[^a-z0-9]+", "-", name).strip("-")
    return next((owner for owner, names in OWNERS.items() if product in names.split()), product)


def pages_in(folders: list[Path]) -> dict[str, dict[str, list[Page]]]:
    """All pages by site and version, those nearest to the root first."""
    found: dict[str, dict[str, list[Page]]] = defaultdict(lambda: defaultdict(list))
    for folder in folders:
        lines = (folder / "manifest.tsv").read_text().splitlines()[1:]
        for _, _, package, _, version, path, size, _ in (line.split("\t") for line in lines):
            if int(size) <= LARGEST:
                site = site_of(package)
                url = f"https://www.{site}.example/{version}/{path}"
                found[site][version].append(Page(site, url, folder / "html" / version / path))
    return {site: {version: sorted(pages, key=_distance) for version, pages in versions.items()}
            for site, versions in sorted(found.items())}


def _distance(page: Page) -> tuple[bool, int, bool, str]:
    """Front pages first; lists that a generator makes are none."""
    name = page.url.rpartition("/")[2]
    listed = re.search("genindex|modindex|search|all(classes|packages)", name) is not None
    return listed, page.url.count("/"), not name.startswith("index"), page.url


def with_form(html: str) -> str:
    """A page with a login form at its end."""
    at = html.lower().rfind("</body>")
    return html + FORM if at < 0 else html[:at] + FORM + html[at:]


def make_corpus(sites: dict[str, dict[str, list[Page]]], out: Path, fronts: int, unrelated: int,
                dice: random.Random) -> None:
    """originals.jsonl, suspects.jsonl, background.jsonl, and labelled.csv: url, label, target,
    kit."""
    others = sample(sites, 2 * unrelated, dice)
    with (out / "originals.jsonl").open("w") as originals, \
            (out / "suspects.jsonl").open("w") as suspects, \
            (out / "background.jsonl").open("w") as background, \
            (out / "labelled.csv").open("w") as labelled:
        rows = csv.writer(labelled)
        rows.writerow(("url", "label", "target", "kit"))
        number = 0
        for site, versions in sites.items():
            for page in (page for pages in versions.values() for page in pages[:fronts]):
                html = with_form(page.html())
                write(originals, page.url, html)
                for kit, change in KITS.items():
                    number += 1
                    write(suspects, url := f"http://copy{number}.example/login", change(html, dice))
                    rows.writerow((url, "phish", site, kit))
        for page in others[::2]:
            html = page.html()
            write(suspects, page.url, html)
            rows.writerow((page.url, "benign", "", generator_of(html)))
        for page in others[1::2]:
            write(background, page.url, page.html())


def write(to: TextIO, url: str, html: str) -> None:
    print(json.dumps({"url": url, "html": html}), file=to)


def sample(sites: dict[str, dict[str, list[Page]]], count: int, dice: random.Random) -> list[Page]:
    """So many different pages, as evenly from all sites as there are, in no order."""
    shuffled = [dice.sample(every, len(every)) for versions in sites.values()
                if (every := [page for pages in versions.values() for page in pages])]
    turns = (pages[turn] for turn in range(max(map(len, shuffled)))
             for pages in shuffled if turn < len(pages))
    found = list(islice(turns, count))
    dice.shuffle(found)
    return found


def generator_of(html: str) -> str:
    """What has made a page, as far as many sites share it."""
    for name, sign in (("sphinx", "sphinx"), ("javadoc", "generated by javadoc"),
                       ("doxygen", "generated by doxygen"), ("docbook", "docbook")):
        if sign in html.lower():
            return f"unrelated, {name}"
    return "unrelated, other"


def beam_reuse(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "beam_reuse", *map(str, words)], check=True)


def first_use(out: Path, most: int = 6) -> None:
    """The same visits through a store: originals on three days each, then suspects."""
    from beam_reuse.core.first_use import FirstUseSettings
    from beam_reuse.detector.first_use import FirstUse

    judged = {row["url"]: row for row in csv.DictReader((out / "labelled.csv").open())}
    print(f"\ntrust on first use, {len(judged):,} suspects\n{'min-evidence':>14}", *(
        f"{kit:>17}" for kit in (*KITS, "false positives", "sites alarmed")))
    for least in range(1, most):
        with tempfile.TemporaryDirectory() as folder:
            detector = FirstUse(Path(folder, "store"), FirstUseSettings(min_evidence=least))
            alarmed = learn_originals(detector, out)
            found: Counter[str] = Counter()
            whole: Counter[str] = Counter()
            for line in (out / "suspects.jsonl").open():
                page = json.loads(line)
                row = judged[page["url"]]
                kind = row["kit"] if row["label"] == "phish" else "false positives"
                page["html"] = page["html"].replace('type="password"', "")  # to learn nothing more
                whole[kind] += 1
                found[kind] += detector.check(page["html"], page["url"], day=20003).flagged
            print(f"{least:>14}", *(f"{found[kind] / whole[kind]:>17.2%}" for kind in (
                *KITS, "false positives")), f"{alarmed:>17}")
            detector.close()


def learn_originals(detector, out: Path) -> int:  # type: ignore[no-untyped-def]
    """Visit all originals on three days; those that are flagged are trusted by a person, once for
    a site. Returns for how many sites that was necessary."""
    alarmed = set()
    for day in range(20000, 20003):
        for line in (out / "originals.jsonl").open():
            page = json.loads(line)
            finding = detector.check(page["html"], page["url"], day=day)
            if finding.flagged:
                alarmed.add(page["url"].split("/")[2])
                detector.trust(page["html"], page["url"], day=day)
    return len(alarmed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--fronts", type=int, default=2)
    parser.add_argument("--unrelated", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    out = args.output
    out.mkdir(parents=True, exist_ok=True)
    sites = pages_in(args.folders)
    make_corpus(sites, out, args.fronts, args.unrelated, random.Random(args.seed))
    labels, result = out / "labels.parquet", out / "result"
    beam_reuse("labels", out / "originals.jsonl", "-o", labels, "--config", CONFIG, "--background",
               out / "background.jsonl", "--stop-chunks", GENERIC, "--overwrite")
    beam_reuse("run", out / "suspects.jsonl", "-o", result, "--labels", labels, "--config", CONFIG,
               "--overwrite")
    for by in ("kit", "target"):
        beam_reuse("evaluate", result, "--pages", out / "labelled.csv", "--by", by, "-o",
                   out / f"by-{by}", "--overwrite")
    first_use(out)


if __name__ == "__main__":
    main()
