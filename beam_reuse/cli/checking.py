"""The command `check`: the detector at the edge, for files, for a stream, and to be taught."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

import orjson

from beam_reuse.cli.adopting import adopted, report_judged
from beam_reuse.cli.arguments import UsageError
from beam_reuse.cli.check_stream import answers
from beam_reuse.core.errors import UserError
from beam_reuse.core.finding import Finding, Learned
from beam_reuse.core.nesting import TooDeep
from beam_reuse.core.pages import Outcome, RawPage, Rejected
from beam_reuse.core.settings import KINDS, ReadSettings, naming
from beam_reuse.core.wording import counted
from beam_reuse.detector import Detector
from beam_reuse.io.crawl.kinds import kind_of, sniff_type
from beam_reuse.io.files import local_path, require_writable
from beam_reuse.options.values import DEFAULTS, settings_from

STANDARD_INPUT = "-"
MATCHES_SHOWN = 10
SOURCES_SHOWN = 5
LIST_ENDINGS = (".brl", ".parquet")


def run_check(pages: Sequence[str], values: Mapping[str, Any]) -> int:
    """Check pages, answer a stream, or learn a page. 1 if a page could not be read."""
    _refuse_contradictions(pages, values)
    try:
        if "learn" in values:
            return _learn(values)
        if values.get("jsonl"):
            return _answer_streams(_detector(values), pages)
        return _check_pages(_detector(values), pages, values)
    except BrokenPipeError:
        # Who reads the answers wants no more; nothing can be told there any longer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _refuse_contradictions(pages: Sequence[str], values: Mapping[str, Any]) -> None:
    learns = "learn" in values
    if learns and pages:
        raise UsageError("check: --learn takes its one page itself and checks no others.")
    if learns and "url" not in values:
        raise UsageError("check: --learn needs the page's address, its source: --url URL.")
    if not learns and "labels" not in values:
        raise UsageError("check: give what to look for with --labels FILE.")
    if not learns and "output" in values:
        raise UsageError("check: -o FILE is for --learn; answers go to standard output.")
    if "url" in values and not learns and (values.get("jsonl") or len(pages) > 1):
        raise UsageError("check: --url is for a single page; lines of --jsonl have their own.")
    if len(values.get("nilsimsa-threshold", ())) > 1:
        raise UsageError("check: give one --nilsimsa-threshold; `run` counts for several.")
    if learns and values.get("matcher") == "nilsimsa":
        raise UsageError("check: --learn adds hashes; --matcher nilsimsa is for checking pages.")
    if "page-threshold" in values and values["page-threshold"] is None:
        raise UsageError("check: --page-threshold auto needs a whole crawl (`run` has one); give "
                         "a number from 0 to 1.")


def _detector(values: Mapping[str, Any]) -> Detector:
    lists = tuple(local_path(path) for path in values.get("labels", ()))
    given = adopted("check", {**values, "labels": lists})
    report_judged(values)
    if not lists:
        given = {**DEFAULTS["labels"], **given}
    settings = settings_from(given, "check")
    with naming({"page_threshold": "--page-threshold"}):
        return Detector(
            lists, chunks=settings.chunks, stops=settings.stops,
            page_threshold=values.get("page-threshold", 0.0),
            min_chunks=settings.detection.min_chunks,
            min_matching=settings.detection.min_matching, count_own=settings.detection.count_own,
            matcher=settings.detection.matcher,
            nilsimsa_threshold=settings.detection.nilsimsa_thresholds[0])


def _check_pages(detector: Detector, pages: Sequence[str], values: Mapping[str, Any]) -> int:
    status = 0
    for page in _read_pages(pages or [STANDARD_INPUT]):
        if isinstance(page, Rejected):
            status = 1
            _print_reject(page, values)
        elif isinstance(page, RawPage):
            url = values.get("url", page.fetched_url)
            try:
                finding = detector.check(page.payload, url, page.kind, page.charset)
            except TooDeep as error:
                status = 1
                _print_reject(_refused(page, error), values)
                continue
            if values.get("json"):
                _put(finding.as_json())
            else:
                _say(describe(finding, values.get("url") or _shown_name(page)))
    return status


def _read_pages(names: Sequence[str]) -> Iterator[Outcome]:
    """The pages of files as `run` reads them, in the order they are given."""
    from beam_reuse.io.crawl.inputs import list_files
    from beam_reuse.io.crawl.ranges import FileRange
    from beam_reuse.io.crawl.read import read_range

    settings = ReadSettings(content_types=KINDS)
    listed = [(name, [] if name == STANDARD_INPUT else list_files([name])) for name in names]
    for name, files in listed:
        if name == STANDARD_INPUT:
            yield _page_of(_standard_input().read(), name)
        for file in files:
            yield from read_range(FileRange(0, (file,), 0, file.size), settings)


def _refused(page: RawPage, error: TooDeep) -> Rejected:
    return Rejected(page.file, page.offset, page.fetched_url, "nested-too-deep", str(error))


def _page_of(payload: bytes, name: str) -> RawPage:
    """A page from standard input: its first bytes tell what it is."""
    content_type = sniff_type(payload)
    return RawPage(name, 0, len(payload), "", "", None, None, "", kind_of(content_type),
                   content_type, "", payload)


def _answer_streams(detector: Detector, names: Sequence[str]) -> int:
    """One answer per line, each as soon as its line is read."""
    for name in names or [STANDARD_INPUT]:
        with _opened(name) as source:
            for answer in answers(detector, source):
                _put(answer)
    return 0


def _opened(name: str) -> AbstractContextManager[IO[bytes]]:
    if name == STANDARD_INPUT:
        return nullcontext(_standard_input())
    try:
        return open(local_path(name), "rb")
    except OSError as error:
        raise UserError(f"{name}: {error.strerror}. Give files of JSON Lines, or - for standard "
                        "input.") from error


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:
        raise UsageError("check: standard input is closed. Give files, or pipe pages into it.")
    return sys.stdin.buffer


def _learn(values: Mapping[str, Any]) -> int:
    target = _target_of(values)
    page = _only_page(values["learn"])
    detector = _detector(values)
    try:
        learned = detector.learn(page.payload, values["url"], page.kind, page.charset)
    except TooDeep as error:
        raise UserError(f"--learn {values['learn']}: {error}; no text of it can be learned."
                        ) from None
    count = detector.save(target)
    if values.get("json"):
        _put({**learned.as_json(), "labels": count, "list": target})
    else:
        _say(f"{_described(learned)} {target} has {count:,} labels.")
    return 0


def _target_of(values: Mapping[str, Any]) -> str:
    """Where the list goes: -o FILE, or where the only list of --labels is."""
    lists: tuple[str, ...] = values.get("labels", ())
    if "output" not in values and len(lists) != 1:
        raise UsageError("check: say where the list goes with -o FILE (.brl or .parquet).")
    target = local_path(values.get("output") or lists[0])
    if not target.endswith(LIST_ENDINGS):
        raise UsageError(f"check: {target} cannot take new labels: give -o FILE that ends in "
                         f"{' or '.join(LIST_ENDINGS)}.")
    require_writable(target)
    own = target in map(local_path, lists)
    if os.path.exists(target) and not own and not values.get("overwrite"):
        raise UserError(f"-o {target} exists already. Add --overwrite to replace it, or give it "
                        "with --labels too to add to it.")
    return target


def _only_page(name: str) -> RawPage:
    found = list(_read_pages([name]))
    pages = [page for page in found if isinstance(page, RawPage)]
    if len(found) != 1 or len(pages) != 1:
        bad = next((page for page in found if isinstance(page, Rejected)), None)
        why = f"cannot be read ({bad.detail})" if bad else f"holds {len(pages)} pages"
        raise UserError(f"--learn {name}: {why}. Give the file of one page, or - for standard "
                        "input; `labels` makes lists from whole crawls.")
    return pages[0]


def _described(learned: Learned) -> str:
    chunks = f"{learned.chunks:,} chunk{'' if learned.chunks == 1 else 's'}"
    new = f"{chunks} and the file" if learned.file else chunks
    known = f"; {learned.known:,} were known" if learned.known else ""
    return f"{learned.url}: {new} added{known}."


def describe(finding: Finding, name: str) -> str:
    """A finding for people: the verdict, whose content it is, where it stands."""
    verdict = "FLAGGED" if finding.flagged else "not flagged"
    share = "no chunks that count" if finding.contains is None else (
        f"{finding.matching:,} of {finding.chunks:,} chunks known ({finding.contains:.1%})")
    lines = [f"{name}: {verdict}, {share}"]
    if finding.own_matching:
        lines.append(f"  {counted(finding.own_matching, 'chunk')} of its own domain did not count")
    if finding.file_match or finding.own_file:
        whose = "its own" if finding.own_file else "known"
        lines.append(f"  the whole file is {whose}: {finding.file_source or 'source not told'}")
    if finding.sources:
        some = ", ".join(f"{s.name} ({s.matching:,})" for s in finding.sources[:SOURCES_SHOWN])
        more = len(finding.sources) - SOURCES_SHOWN
        lines.append(f"  from {some}" + (f" and {more:,} more" if more > 0 else ""))
    of_others = [match for match in finding.matches if not match.own]
    for match in of_others[:MATCHES_SHOWN]:
        others = f" and {match.sources - 1:,} more" if match.sources > 1 else ""
        alike = "" if match.score is None else f" (similar, score {match.score})"
        lines.append(f"  chunk {match.position}, bytes {match.start}-{match.end}: "
                     f"{match.source_url or match.sha1}{others}{alike}")
    if len(of_others) > MATCHES_SHOWN:
        lines.append(f"  ... {len(of_others) - MATCHES_SHOWN:,} more; --json shows all")
    return "\n".join(lines)


def _shown_name(page: RawPage) -> str:
    if page.file == STANDARD_INPUT:
        return "standard input"
    return page.file if page.fetched_url.startswith("file:") else page.fetched_url


def _print_reject(page: Rejected, values: Mapping[str, Any]) -> None:
    text = f"{page.reason}: {page.detail}"
    if values.get("json"):
        _put({"url": page.url, "file": page.file, "offset": page.offset, "error": text})
    else:
        print(f"{page.file}, byte {page.offset}: {text}", file=sys.stderr)


def _put(answer: Mapping[str, Any]) -> None:
    """One JSON object on a line of its own, in UTF-8 and seen at once."""
    try:
        line = orjson.dumps(answer)
    except TypeError:  # a lone surrogate, from a file name that is not UTF-8
        line = json.dumps(answer).encode()
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _say(text: str) -> None:
    """A line for people; what their terminal cannot show is escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.buffer.write(text.encode(encoding, "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()
