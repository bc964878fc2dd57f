"""The settings a list of labels carries, as JSON: how the pages were cut it was made from."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelSettings
from beam_reuse.core.settings import ChunkSettings, SettingError, StopSettings

FORMAT = 1
METADATA_KEY = b"beam_reuse.labels"


def settings_to_json(settings: LabelSettings) -> str:
    """Deterministic text, on one line: the same settings give the same bytes."""
    return json.dumps({"format": FORMAT, **options_of(settings)})


def options_of(settings: LabelSettings) -> dict[str, Any]:
    """The settings by option name; `settings_by_option` reads them."""
    chunks = settings.chunks
    return {
        "chunk-tags": chunks.tags,
        "chunk-normalise": chunks.normalise,
        "classic": chunks.classic,
        "min-chunk-bytes": settings.min_chunk_bytes,
        "min-chunk-tokens": settings.min_chunk_tokens,
    }


def settings_from_json(text: bytes, where: str) -> LabelSettings:
    """The settings in `text`; UserError naming `where` for what this version cannot read."""
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise UserError(f"{where}: its label settings are no JSON; make the list anew.")
    if content.get("format") != FORMAT:
        raise UserError(f"{where}: its labels have format {content.get('format')!r}; this version "
                        f"reads format {FORMAT}. Use the release that made it.")
    return settings_by_option(content, where)


def settings_by_option(options: Mapping[str, Any], where: str) -> LabelSettings:
    """The settings of labels from values by option name, as a manifest records them."""
    try:
        tags = options["chunk-tags"]
        least = options["min-chunk-bytes"], options.get("min-chunk-tokens", 0)
        sound = (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)
                 and all(type(number) is int and number >= 0 for number in least))
        if not sound:
            raise TypeError
        chunks = ChunkSettings(tuple(tags), options["chunk-normalise"], options["classic"] is True)
        return LabelSettings(chunks, *least)
    except (KeyError, TypeError, SettingError):
        raise UserError(f"{where}: its label settings are incomplete or not allowed; "
                        "make the list anew.") from None


def same_chunks(one: ChunkSettings, other: ChunkSettings) -> bool:
    """Whether both cut and hash every page alike; the order of tags does not matter."""
    return (set(one.tags), one.normalise, one.classic) == (
        set(other.tags), other.normalise, other.classic)


def same_settings(one: LabelSettings, other: LabelSettings) -> bool:
    """Whether labels made with `one` can be looked for on pages cut with `other`."""
    return same_chunks(one.chunks, other.chunks) and (
        one.min_chunk_bytes, one.min_chunk_tokens) == (
        other.min_chunk_bytes, other.min_chunk_tokens)


def least_of(settings: LabelSettings, stops: StopSettings) -> LabelSettings:
    """The settings of labels with the least that `stops` ask of a chunk, if they ask anything."""
    return replace(settings,
                   min_chunk_bytes=stops.min_chunk_bytes or settings.min_chunk_bytes,
                   min_chunk_tokens=stops.min_chunk_tokens or settings.min_chunk_tokens)


def described(settings: LabelSettings) -> str:
    """The settings as they would be typed."""
    chunks = settings.chunks
    cut = "--classic" if chunks.classic else (
        f"--chunk-tags {','.join(chunks.tags)} --chunk-normalise {chunks.normalise}")
    words = f" --min-chunk-tokens {settings.min_chunk_tokens}" if settings.min_chunk_tokens else ""
    return f"{cut} --min-chunk-bytes {settings.min_chunk_bytes}{words}"


def agreed(
    made_with: LabelSettings | None, chunks: ChunkSettings | None, stops: StopSettings
) -> LabelSettings:
    """How pages are cut: as the labels say, or leaving out more short chunks than they did.
    Refuses settings that contradict them."""
    stops.require_words(chunks or (made_with.chunks if made_with else ChunkSettings()))
    if made_with is None:
        return least_of(LabelSettings(chunks or ChunkSettings(), 0), stops)
    asked = least_of(replace(made_with, chunks=chunks or made_with.chunks), stops)
    if (not same_chunks(asked.chunks, made_with.chunks)
            or asked.min_chunk_bytes < made_with.min_chunk_bytes
            or asked.min_chunk_tokens < made_with.min_chunk_tokens):
        raise UserError(
            f"the labels were made with {described(made_with)}; pages cut with "
            f"{described(asked)} would not match them. Leave these settings out.")
    return replace(asked, chunks=made_with.chunks)
