"""The passages that any site may have: those of generators, of licences, of templates.

    python benchmarks/generic_passages.py DEBDOCS... [-o FILE] [--sites 3] [--show 40]

DEBDOCS are folders as `phishing.py` takes them, of the packages in `generic_packages.txt`, and of
none that anything is measured on. Written are the SHA-1 of all chunks of text, cut as trust on
first use cuts them, that occur on so many sites or more. Numbers make no difference when sites are
counted: what names the version of a generator, or a line of a listing, is one passage.
"""

import argparse
import re
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
# Made by benchmarks/generic_passages.py: those on {sites} sites or more of {all}, in {pages} pages;
# numbers in them make no difference when sites are counted.
"""
NUMBER = re.compile("[0-9]+")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=GENERIC)
    parser.add_argument("--sites", type=int, default=3)
    parser.add_argument("--show", type=int, default=0, help="how many texts to print")
    args = parser.parse_args()
    sites: dict[str, set[str]] = defaultdict(set)
    forms: dict[str, set[str]] = defaultdict(set)
    found = pages_in(args.folders)
    pages = [page for versions in found.values() for some in versions.values() for page in some]
    for page in pages:
        for sha1, text in chunks(page):
            passage = NUMBER.sub("0", text)
            sites[passage].add(page.site)
            forms[passage].add(sha1)
    generic = sorted((passage for passage in sites if len(sites[passage]) >= args.sites),
                     key=lambda passage: -len(sites[passage]))
    written = sorted(sha1 for passage in generic for sha1 in forms[passage])
    args.output.write_text(
        NOTE.format(sites=args.sites, all=f"{len(found):,}", pages=f"{len(pages):,}")
        + "".join(f"{sha1}\n" for sha1 in written))
    print(f"{len(generic):,} passages on {args.sites} sites or more of {len(found):,}, "
          f"in {len(written):,} forms")
    for passage in generic[:args.show]:
        print(f"{len(sites[passage]):>5} {len(forms[passage]):>5} {passage[:100]}")


def chunks(page: Page) -> Iterator[tuple[str, str]]:
    """The chunks of a page that count, but for the list that is made here."""
    try:
        counted = CUTTER.count(page.html(), "html", "")
    except TooDeep:
        return
    for at in range(len(counted.sha1)):
        yield counted.sha1[at].tobytes().hex(), counted.chunk(at, CUT.chunks).decode()


CUTTER = Cutter(CUT, StopSettings())


if __name__ == "__main__":
    main()
