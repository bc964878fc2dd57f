"""The command `check`: the detector at the edge, for files, for a stream, and to be taught."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

from beam_reuse.cli import trusting
from beam_reuse.cli.adopting import adopted, report_judged
from beam_reuse.cli.arguments import UsageError
from beam_reuse.cli.check_answers import describe, put, say
from beam_reuse.cli.check_stream import answers
from beam_reuse.core.errors import UserError
from beam_reuse.core.finding import Learned
from beam_reuse.core.nesting import TooDeep
from beam_reuse.core.pages import Outcome, RawPage, Rejected
from beam_reuse.core.settings import KINDS, ReadSettings, naming
from beam_reuse.detector import Detector
from beam_reuse.io.crawl.kinds import kind_of, sniff_type
from beam_reuse.io.files import local_path, require_writable
from beam_reuse.io.labels.loading import gram_lists_among
from beam_reuse.options.values import DEFAULTS, settings_from

STANDARD_INPUT = "-"
LIST_ENDINGS = (".brl", ".parquet")


def run_check(pages: Sequence[str], values: Mapping[str, Any]) -> int:
    """Check pages, answer a stream, or learn a page. 1 if a page could not be read."""
    _refuse_contradictions(pages, values)
    try:
        if trusting.is_decision(values):
            return _decide(values)
        if "learn" in values:
            return _trust(values) if trusting.learns_by_itself(values) else _learn(values)
        if values.get("jsonl"):
            return _answer_streams(_detector(values), pages)
        return _check_pages(_detector(values), pages, values)
    except BrokenPipeError:
        # Who reads the answers wants no more; nothing can be printed there any longer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _refuse_contradictions(pages: Sequence[str], values: Mapping[str, Any]) -> None:
    trusting.refuse_contradictions(pages, values)
    learns, stored = "learn" in values, trusting.learns_by_itself(values)
    if learns and pages:
        raise UsageError("check: --learn takes its one page itself and checks no others.")
    if learns and "url" not in values:
        raise UsageError("check: --learn needs the page's address, its source: --url URL.")
    if not learns and not stored and "labels" not in values:
        raise UsageError("check: give what to look for with --labels FILE, or --trust first-use "
                         "--store FILE, which learns it by itself.")
    if not learns and "output" in values:
        raise UsageError("check: -o FILE is for --learn; answers go to standard output.")
    if "url" in values and not learns and (values.get("jsonl") or len(pages) > 1):
        raise UsageError("check: --url is for a single page; lines of --jsonl have their own.")
    if len(values.get("nilsimsa-threshold", ())) > 1:
        raise UsageError("check: give one --nilsimsa-threshold; `run` counts for several.")
    if learns and values.get("matcher") == "nilsimsa":
        raise UsageError("check: --learn adds hashes; --matcher nilsimsa is for checking pages.")


def _detector(values: Mapping[str, Any]) -> Detector:
    if trusting.learns_by_itself(values):
        report_judged(values)
        return trusting.make_detector(values)
    lists = tuple(local_path(path) for path in values.get("labels", ()))
    grams, others = gram_lists_among(lists)
    if grams and "learn" in values:
        raise UsageError(f"check: {grams[0]} has gram labels, which are made by `labels --grams`; "
                         "--learn adds to lists of chunks.")
    if "min-share" in values and not grams:
        raise UsageError("check: --min-share is for gram labels, and --labels names none.")
    given = adopted("check", {**values, "labels": others})
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
            nilsimsa_threshold=settings.detection.nilsimsa_thresholds[0],
            min_share=settings.decontaminate.min_share, parser=settings.read.parser)


def _check_pages(detector: Detector, pages: Sequence[str], values: Mapping[str, Any]) -> int:
    status, nameless = 0, ""
    hinted = "url" in values or bool(values.get("count-own"))
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
                put(finding.as_json())
            else:
                say(describe(finding, values.get("url") or _shown_name(page)))
            if finding.matching and page.fetched_url.startswith("file:"):
                nameless = nameless or _shown_name(page)
                if not hinted and (hint := _hint_at_url(page)):
                    hinted = True
                    print(hint, file=sys.stderr)
    if nameless and not hinted and not values.get("json"):
        print(f"The URL of {nameless} is not known, so what is its own counts as a copy; "
              "--url gives it.", file=sys.stderr)
    return status


def _hint_at_url(page: RawPage) -> str:
    """What to do where a page's own content counts against it, as its URL is not known."""
    from beam_reuse.io.crawl.mirrors import likely_url

    url = likely_url(page.file)
    return url and (f"The URL of {page.file} is not known, so what is its own counts as a copy. If "
                    f"it is {url}, give --url with it, or the folder that has the host's: "
                    "check FOLDER.")


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
    """A page from standard input: its first bytes show what it is."""
    content_type = sniff_type(payload)
    return RawPage(name, 0, len(payload), "", "", None, None, "", kind_of(content_type),
                   content_type, "", payload)


def _answer_streams(detector: Detector, names: Sequence[str]) -> int:
    """One answer per line, each as soon as its line is read."""
    for name in names or [STANDARD_INPUT]:
        with _opened(name) as source:
            for answer in answers(detector, source):
                put(answer)
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
        put({**learned.as_json(), "labels": count, "list": target})
    else:
        say(f"{_described(learned)} {target} has {count:,} labels.")
    return 0


def _trust(values: Mapping[str, Any]) -> int:
    """Learn a page into a store, whatever it is made of: a person has said so."""
    page = _only_page(values["learn"])
    try:
        finding = _detector(values).first_use.trust(
            page.payload, values["url"], page.kind, page.charset)
    except TooDeep as error:
        raise UserError(f"--learn {values['learn']}: {error}; no text of it can be learned."
                        ) from None
    if values.get("json"):
        put(finding.as_json())
    else:
        say(describe(finding, values["url"]))
    return 0


def _decide(values: Mapping[str, Any]) -> int:
    sites = trusting.decide(_detector(values), values)
    if values.get("json"):
        for site in sites:
            put(site.as_json())
    else:
        say(trusting.describe_sites(sites))
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


def _shown_name(page: RawPage) -> str:
    if page.file == STANDARD_INPUT:
        return "standard input"
    return page.file if page.fetched_url.startswith("file:") else page.fetched_url


def _print_reject(page: Rejected, values: Mapping[str, Any]) -> None:
    text = f"{page.reason}: {page.detail}"
    if values.get("json"):
        put({"url": page.url, "file": page.file, "offset": page.offset, "error": text})
    else:
        print(f"{page.file}, byte {page.offset}: {text}", file=sys.stderr)
