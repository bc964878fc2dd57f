"""The settings that change values, as frozen values that refuse what makes no sense.

Here are those that belong to no analysis; each analysis has its own in its folder, and
`declaring.settings.Settings` holds them all. Settings that change no value (runner, workers,
folders) are not here.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TypeVar

from beam_reuse.core.errors import UserError

KINDS = ("document", "code", "other")
CAPTURES = ("latest", "all")
NORMALISATIONS = ("whitespace", "none", "text")
PARSERS = LEXBOR, HTML5LIB = "lexbor", "html5lib"
WAYS = ("add", "delete", "change")
# So many copies of a site with nine billion chunks can still be counted in 64 bits.
MOST_COPIES = 10**9
MOST_COUNTED = (1 << 63) - 1
Kind = TypeVar("Kind")


class SettingError(UserError):
    """A setting outside its range; the message names the setting, the value and the range.

    The message is its parts: a text and the name of a field in turn. In Python settings are named
    by their fields; whoever knows them by other names, as the command line does, says so
    (`naming`).
    """

    def __init__(self, *parts: str) -> None:
        super().__init__("".join(parts))
        self.parts = parts

    def named(self, names: Mapping[str, str]) -> "SettingError":
        """The same error with other names for some fields."""
        return SettingError(*(
            names.get(part, part) if i % 2 else part for i, part in enumerate(self.parts)))


def parts_of(message: str) -> list[str]:
    """Texts and names in turn of a message that names fields in braces."""
    return re.split(r"[{}]", message)


@contextmanager
def naming(names: Mapping[str, str]) -> Iterator[None]:
    """Errors of settings made in this block name fields by these names."""
    try:
        yield
    except SettingError as error:
        raise error.named(names) from None


def require(condition: bool, field: str, value: object, allowed: str) -> None:
    """Refuse `value` of `field` unless `condition`; the message says what is `allowed`, in which
    other fields are named in braces."""
    if not condition:
        shown = ",".join(map(str, value)) if isinstance(value, tuple | list) else repr(value)
        first, *rest = parts_of(allowed)
        raise SettingError("", field, f": {shown} is not allowed; it must be {first}", *rest)


def given_or_default(given: Kind | None, kind: type[Kind], whose: object) -> Kind:
    """Settings that were given to a transform, or those it has by default; refuses others."""
    if given is not None and not isinstance(given, kind):
        name = getattr(whose, "__name__", type(whose).__name__)
        raise SettingError(f"{name} takes {kind.__name__}, not {type(given).__name__}")
    return kind() if given is None else given


@dataclass(frozen=True)
class ReadSettings:
    """Which records are pages, and which `parser` reads their HTML. `statuses` None means any HTTP
    status. `stored`: of files of which formats (warc, jsonl, parquet) records are kept as they are
    stored, too; it decides nothing.

    >>> ReadSettings(statuses=(200, 203), captures="all").captures
    'all'
    >>> ReadSettings(captures="first")
    Traceback (most recent call last):
    beam_reuse.core.settings.SettingError: captures: 'first' is not allowed; it must be ...
    """

    statuses: tuple[int, ...] | None = (200,)
    content_types: tuple[str, ...] = ("document", "code")
    max_record_bytes: int = 64 << 20
    captures: str = "latest"
    max_prefix_depth: int = 96
    max_path_repeats: int = 5
    stored: tuple[str, ...] = ()
    parser: str = LEXBOR

    def __post_init__(self) -> None:
        bad = [s for s in self.statuses or () if not 100 <= s <= 999]
        require(not bad, "statuses", bad, "a list of numbers from 100 to 999, or all")
        require(
            bool(self.content_types) and all(t in KINDS for t in self.content_types),
            "content_types", self.content_types, f"a list of {', '.join(KINDS)}, or all",
        )
        require(1 << 10 <= self.max_record_bytes <= 1 << 30, "max_record_bytes",
                self.max_record_bytes, "from 1K to 1G")
        require(self.captures in CAPTURES, "captures", self.captures, " or ".join(CAPTURES))
        require(self.max_prefix_depth >= 0, "max_prefix_depth", self.max_prefix_depth,
                "0 (off) or more")
        require(self.max_path_repeats == 0 or self.max_path_repeats >= 2, "max_path_repeats",
                self.max_path_repeats, "0 (off), or 2 or more")
        require_parser(self.parser)


def require_parser(parser: str) -> None:
    """Refuse a parser of HTML that is not known, or not installed."""
    require(parser in PARSERS, "parser", parser, " or ".join(PARSERS))
    if parser == HTML5LIB and find_spec("html5lib") is None:
        raise SettingError("", "parser", " html5lib: it is not installed; "
                           "`pip install 'beam-reuse[reference]'` has it")


@dataclass(frozen=True)
class ChunkSettings:
    """How pages are cut into chunks. `normalise`: of a chunk its bytes are hashed with white space
    squeezed (`whitespace`) or as they are (`none`), or, of HTML, the text that a reader sees
    (`text`). `classic` is the rule of the published hash lists: only `<p`, next byte space, tab,
    `/` or `>`, raw bytes, every kind of page alike.

    >>> ChunkSettings(normalise="text")
    ChunkSettings(tags=('p', 'div'), normalise='text', classic=False)
    >>> ChunkSettings.published()
    ChunkSettings(tags=('p',), normalise='none', classic=True)
    """

    tags: tuple[str, ...] = ("p", "div")
    normalise: str = "whitespace"
    classic: bool = False

    def __post_init__(self) -> None:
        require(bool(self.tags) and all(t.isascii() and t.isalnum() and t == t.lower()
                                        for t in self.tags),
                "tags", ",".join(self.tags), "a list of lower-case tag names")
        require(self.normalise in NORMALISATIONS, "normalise", self.normalise,
                " or ".join(NORMALISATIONS))
        if self.classic and (self.tags, self.normalise) != (("p",), "none"):
            raise SettingError(*parts_of(
                "{classic} means {tags} p and {normalise} none: leave both out"))

    @property
    def squeezes(self) -> bool:
        """Whether runs of white space in a chunk count as one space, and none at its ends."""
        return self.normalise != "none"

    @staticmethod
    def published() -> "ChunkSettings":
        """The *classic* setting."""
        return ChunkSettings(("p",), "none", classic=True)


@dataclass(frozen=True)
class StopSettings:
    """Which chunks do not count: those shorter than `min_chunk_bytes` after normalising, those with
    fewer words (tokens) than `min_chunk_tokens`, those on the lists (files of hashes or texts),
    and built-in idioms without content.

    >>> StopSettings(min_chunk_bytes=25).builtin
    True
    """

    min_chunk_bytes: int = 0
    lists: tuple[str, ...] = ()
    builtin: bool = True
    min_chunk_tokens: int = 0

    def __post_init__(self) -> None:
        for name in ("min_chunk_bytes", "min_chunk_tokens"):
            value = getattr(self, name)
            require(0 <= value <= MOST_COUNTED, name, value, "from 0 to 2**63 - 1")

    def require_words(self, chunks: ChunkSettings) -> None:
        """Refuse to count words of chunks that are no text, but bytes of markup."""
        require(not self.min_chunk_tokens or chunks.normalise == "text", "stops.min_chunk_tokens",
                self.min_chunk_tokens, "0, or given with {chunks.normalise} text")


@dataclass(frozen=True)
class ExperimentSettings:
    """What an experiment does to a site. *inject*: `copies` of it are made, `partial` ones
    with paragraphs of their own. *mutate*: in which `ways` pages change, how often (as
    `multiples` of the mean chunks per page), in how many `runs` from which `seed`; its blind
    labels are what discovery finds after `blind_copies` copies."""

    copies: tuple[int, ...] = tuple(range(100, 5001, 100))
    partial: bool = False
    ways: tuple[str, ...] = WAYS
    multiples: tuple[float, ...] = tuple(n / 4 for n in range(33))
    runs: int = 10
    seed: int = 0
    blind_copies: int = 5000

    def __post_init__(self) -> None:
        for name, values in (("copies", self.copies), ("multiples", self.multiples)):
            require(bool(values) and min(values) >= 0 and list(values) == sorted(set(values)),
                    name, values, "a list of ascending numbers from 0 on")
        require(max(self.copies) <= MOST_COPIES, "copies", max(self.copies),
                f"{MOST_COPIES:,} at most")
        require(bool(self.ways) and set(self.ways) <= set(WAYS), "ways", ",".join(self.ways),
                f"a list of {', '.join(WAYS)}")
        require(self.runs >= 2, "runs", self.runs, "2 or more, for a standard error")
        require(0 <= self.blind_copies <= MOST_COPIES, "blind_copies", self.blind_copies,
                f"from 0 to {MOST_COPIES:,}")
