"""Pages of other people, and copies, before the rules of the browser extension.

    python benchmarks/browser_extension.py FOLDER [--pages 10000] [--learn 5]

FOLDER has a folder of HTML pages per site, as debdocs has. Of every site the pages of the shortest
paths are learnt; then as many pages as asked for, the same number of each site if it has them, are
visited on their own domains, where none should be reported; and the learnt ones on another, where
all should be. The rules run under Node, as in the extension; pages are parsed by this program.
"""

import argparse
import json
import random
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from beam_reuse.core.chunking import chunk_document
from beam_reuse.core.features import TooDeep
from beam_reuse.core.nesting import check_nesting
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.text import read_html
from extension.build import build

SCRIPT = Path(__file__).with_suffix(".mjs")
NAMES = ("*.html", "*.htm")
TAGS = ChunkSettings(normalise="text").tags


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--learn", type=int, default=5)
    args = parser.parse_args()
    sites = {site.name: sorted(
        (path for name in NAMES for path in site.rglob(name) if path.is_file()),
        key=lambda path: (len(path.parts), str(path))) for site in sorted(args.folder.iterdir())}
    learnt = [(name, path) for name, paths in sites.items() for path in paths[:args.learn]]
    asked = [*steps("trust", learnt), *steps("visit", sample(sites, args.learn, args.pages)),
             *steps("visit", learnt, "copy.example")]
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        done = subprocess.run(["node", SCRIPT, f"{folder}/chromium"], text=True, check=True,
                              input="\n".join(map(json.dumps, asked)), stdout=subprocess.PIPE)
    show([json.loads(line) for line in done.stdout.splitlines()], len(sites))


def sample(sites: dict[str, list[Path]], learnt: int, pages: int) -> list[tuple[str, Path]]:
    """The same number of pages of each site, as far as it has them; small sites leave more to
    the others."""
    chance = random.Random(1)
    found: list[tuple[str, Path]] = []
    left = sorted(sites, key=lambda name: len(sites[name]))
    for at, name in enumerate(left):
        others = sites[name][learnt:]
        count = min(len(others), (pages - len(found)) // (len(left) - at))
        found += [(name, path) for path in chance.sample(others, count)]
    return found


def steps(act: str, pages: list[tuple[str, Path]], host: str = "") -> Iterator[dict[str, Any]]:
    for site, path in pages:
        html = path.read_bytes()
        try:
            check_nesting(html, "utf-8")
        except TooDeep:
            continue
        chunks = chunk_document(read_html(html.decode("utf-8", "replace"), TAGS))
        texts = [chunks.text[start:end].decode() for start, end in zip(
            chunks.start.tolist(), chunks.end.tolist(), strict=True)]
        name = site.replace(".", "-")
        yield {"act": act, "url": f"https://{host or f'{name}.example'}/{path.name}",
               "texts": texts}


def show(answers: list[dict[str, Any]], sites: int) -> None:
    trusted = [one for one in answers if one["act"] == "trust"]
    copies = [one for one in answers if one["act"] == "visit" and "copy.example" in one["url"]]
    others = [one for one in answers if one["act"] == "visit" and "copy.example" not in one["url"]]
    flagged = [one for one in others if one["flagged"]]
    print(f"{sites} sites, {len(trusted)} pages learnt; {len(others):,} other pages visited: "
          f"{len(flagged)} reported")
    for (site, domain), count in Counter(
            (one["url"].split("/")[2], one["domain"]) for one in flagged).most_common():
        example = next(one for one in flagged if one["domain"] == domain
                       and site in one["url"])
        print(f"  {count} of {site} as {domain}: {example['url']} {example['passages']}")
    whole = [one for one in copies if one["chunks"] >= 2]
    print(f"copies: {sum(one['flagged'] for one in whole)} of {len(whole)} with two passages or "
          f"more reported; {len(copies) - len(whole)} have fewer")
    for name in ("hashing", "looking"):
        times = sorted(one[name] for one in others)
        print(f"{name}: {median(times):.2f} ms a page, 99 of 100 under "
              f"{times[len(times) * 99 // 100]:.1f} ms")


if __name__ == "__main__":
    main()
