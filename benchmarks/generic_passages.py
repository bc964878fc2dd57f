"""The passages that any site may have: those of generators, of licences, of templates.

    python benchmarks/generic_passages.py DEBDOCS... [-o FILE] [--sites 3] [--show 40]

DEBDOCS are folders as `phishing.py` takes them, of the packages in `generic_packages.txt`, and of
none that anything is measured on. Written are the SHA-1 of all chunks of text, cut as trust on
first use cuts them, that occur on so many sites or more.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from phishing import Page, pages_in

from beam_reuse.core.features import TooDeep
from beam_reuse.core.settings import StopSettings
from beam_reuse.detector.cutting import Cutter
from beam_reuse.detector.first_use import CUT
from beam_reuse.detector.generic import GENERIC

NOTE = """\
# SHA-1 of passages that any site may have: of generators of documentation, licences, templates.
# Made by benchmarks/generic_passages.py: those on {sites} sites or more of {all}, in {pages} pages.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=GENERIC)
    parser.add_argument("--sites", type=int, default=3)
    parser.add_argument("--show", type=int, default=0, help="how many texts to print")
    args = parser.parse_args()
    sites: dict[bytes, set[str]] = defaultdict(set)
    texts: dict[bytes, str] = {}
    found = pages_in(args.folders)
    pages = [page for versions in found.values() for some in versions.values() for page in some]
    for page in pages:
        for sha1, text in chunks(page):
            sites[sha1].add(page.site)
            if args.show and len(sites[sha1]) == args.sites:
                texts[sha1] = text
    generic = [sha1 for sha1 in sites if len(sites[sha1]) >= args.sites]
    args.output.write_text(
        NOTE.format(sites=args.sites, all=f"{len(found):,}", pages=f"{len(pages):,}")
        + "".join(f"{sha1}\n" for sha1 in sorted(map(bytes.hex, generic))))
    print(f"{len(generic):,} passages on {args.sites} sites or more of {len(found):,}")
    for sha1 in sorted(generic, key=lambda sha1: -len(sites[sha1]))[:args.show]:
        print(f"{len(sites[sha1]):>5} {texts[sha1][:100]}")


def chunks(page: Page) -> Iterator[tuple[bytes, str]]:
    """The chunks of a page that count, but for the list that is made here."""
    try:
        counted = CUTTER.count(page.html(), "html", "")
    except TooDeep:
        return
    for at in range(len(counted.sha1)):
        yield counted.sha1[at].tobytes(), counted.chunk(at, CUT.chunks).decode()


CUTTER = Cutter(CUT, StopSettings())


if __name__ == "__main__":
    main()
