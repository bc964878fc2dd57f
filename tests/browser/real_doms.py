"""One definition of text chunks in three tongues, compared on real pages, differences by cause.

    python -m tests.browser.real_doms [--pages 3000] [--seed 1] FOLDER...

A FOLDER has crawl archives in `warcs/`, or HTML files below `html/`, one folder for each site, from
which pages are drawn in turns. The chunks of a page's bytes are compared with those of html5lib's
tree, of a walk of Chromium's tree, of what Chromium writes out of it, and of what it writes out
(outerHTML) after the page was shown and its scripts ran.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from beam_reuse.core.chunking import chunk_document
from beam_reuse.core.nesting import TooDeep, check_nesting
from beam_reuse.core.pages import Kind
from beam_reuse.core.text import read_html
from beam_reuse.io.crawl.payload import decode_text, find_charset
from extension.build import HERE, as_globals
from tests.browser import chromium
from tests.browser.chromium import Chromium, find_chromium
from tests.core.real_pages import real_pages
from tests.oracles.text import html5lib_tree
from tests.oracles.text_chunks import chunk_texts

WALK = as_globals(HERE / "core" / "text_chunks.js")
OUTER = "document.documentElement.outerHTML"
PARSED = f"""{WALK}; (() => {{
  const root = new DOMParser().parseFromString(@PAGE@, "text/html").documentElement;
  return [textChunks(root), root.outerHTML];
}})()"""
LARGEST = 400_000
SAME = "same"
PATIENCE = 20.0


@dataclass(frozen=True)
class Compared:
    """What became of a page's chunks: `same`, or why they differ; how many were lost to scripts."""

    chunks: int
    html5lib: str
    walk: str
    written: str
    scripts: str
    lost: int = 0


def ours(html: str) -> list[str]:
    """The texts of the chunks that the kernel finds."""
    chunks = chunk_document(read_html(html, ("p", "div")))
    places = zip(chunks.start.tolist(), chunks.end.tolist(), strict=True)
    return [chunks.text[start:end].decode() for start, end in places]


def compare(browser: Chromium, html: str) -> Compared:
    """A page in three tongues. Its text is what a browser is served, in UTF-8."""
    texts = ours(html)
    judged = SAME if chunk_texts(html5lib_tree(html)) == texts else (
        "template" if "<template" in html.lower() else "tree")
    after = shown(browser, html)
    served = html.encode("utf-8", "replace").decode()
    walked, out = browser.run(PARSED.replace("@PAGE@", json.dumps(served)))
    walk = SAME if walked == texts else "tree"
    written = SAME if ours(out) == texts else (
        "tree that no HTML gives" if walk == SAME else "tree")
    if after is None:
        return Compared(len(texts), judged, walk, written, "never loaded")
    lost = (Counter(texts) - Counter(after)).total()
    scripts = SAME if after == texts else (
        "scripts only add" if not lost else "scripts change passages" if written == SAME
        else written)
    return Compared(len(texts), judged, walk, written, scripts, lost)


def shown(browser: Chromium, html: str) -> list[str] | None:
    """The chunks of what a browser writes out of a page that it has shown; None for a page that it
    cannot show to its end without the network."""
    try:
        browser.load(html, scripts=True)
        return ours(browser.run(OUTER))
    except TimeoutError:
        browser.load("", scripts=False)
        return None


def pages_of(folders: Sequence[Path], count: int, seed: int) -> Iterator[tuple[str, str]]:
    """(name, HTML) of all pages in archives, then of pages in files, in turns from every site."""
    taken = 0
    for folder in folders:
        if (folder / "warcs").is_dir():
            for name, html in real_pages(folder)[:count]:
                taken += 1
                yield name, html
    dice = random.Random(seed)
    sites = [files for folder in folders if (folder / "html").is_dir()
             for site in sorted((folder / "html").iterdir())
             if (files := sorted(path for path in site.rglob("*") if path.is_file()))]
    shuffled = [dice.sample(files, len(files)) for files in sites]
    for turn in range(max(map(len, shuffled), default=0)):
        for files in shuffled:
            if taken < count and turn < len(files) and files[turn].stat().st_size <= LARGEST:
                taken += 1
                payload = files[turn].read_bytes()
                yield str(files[turn]), decode_text(payload, find_charset(payload, Kind.HTML))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    path = find_chromium()
    if path is None:
        raise SystemExit("No Chromium: `make browser` installs it, or name one in CHROMIUM.")
    found: list[Compared] = []
    chromium.PATIENCE = PATIENCE
    with Chromium(path) as browser:
        for name, html in pages_of(args.folders, args.pages, args.seed):
            try:
                check_nesting(html.encode("utf-8", "replace"))
            except TooDeep:
                print(f"not parsed: {name}")
                continue
            found.append(compare(browser, html))
            if len(found) % 250 == 0:
                report(found)
            odd = {kind: why for kind in ("html5lib", "walk", "written")
                   if (why := getattr(found[-1], kind)) != SAME}
            if odd:
                print(f"{name}: {odd}", flush=True)
    report(found)


def report(found: Sequence[Compared]) -> None:
    print(f"{len(found):,} pages, {sum(one.chunks for one in found):,} chunks, "
          f"{sum(one.lost for one in found):,} of them lost where scripts ran")
    for kind in ("html5lib", "walk", "written", "scripts"):
        counts = Counter(getattr(one, kind) for one in found)
        print(f"{kind:>10}: " + ", ".join(f"{why} {n:,}" for why, n in counts.most_common()),
              flush=True)


if __name__ == "__main__":
    main()
