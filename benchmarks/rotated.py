"""Makes more of a crawl: WARC files with other letters in the text, on other hosts.

usage: rotated.py --by PLACES -o FOLDER FILE.warc.gz...

Letters outside of tags and entities move on by PLACES in the alphabet, hosts get a label more. So
there is as much content again, of the same kind, and next to none of it equal to the original's.
"""

import argparse
import io
import re
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase

from warcio.archiveiterator import ArchiveIterator
from warcio.warcwriter import WARCWriter

_KEPT = re.compile(rb"(<[^>]*>|&[#\w]+;)")
_HOST = re.compile(r"(?<=://)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--by", type=int, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for path in args.files:
        with path.open("rb") as crawl, (args.output / f"{args.by}-{path.name}").open("wb") as out:
            write_rotated(crawl, out, args.by)


def write_rotated(crawl: io.BufferedReader, out: io.BufferedWriter, by: int) -> None:
    """Copy the responses of one WARC file to another, rotated."""
    writer, letters = WARCWriter(out, gzip=True), rotation(by)
    for record in ArchiveIterator(crawl):
        if record.rec_type != "response":
            continue
        pieces = _KEPT.split(record.content_stream().read())
        pieces[::2] = [text.translate(letters) for text in pieces[::2]]
        url = _HOST.sub(f"r{by}.", record.rec_headers.get_header("WARC-Target-URI"), count=1)
        writer.write_record(writer.create_warc_record(
            url, "response", payload=io.BytesIO(b"".join(pieces)),
            http_headers=record.http_headers,
            warc_headers_dict={"WARC-Date": record.rec_headers.get_header("WARC-Date")}))


def rotation(by: int) -> bytes:
    alphabets = (ascii_lowercase, ascii_uppercase)
    return bytes.maketrans(
        "".join(alphabets).encode(),
        "".join(letters[by:] + letters[:by] for letters in alphabets).encode())


if __name__ == "__main__":
    main()
