"""The settings a list of labels carries, as JSON: how the pages were cut it was made from."""

import json
from collections.abc import Mapping
from typing import Any

from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelSettings
from beam_reuse.core.settings import ChunkSettings, SettingError

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
        tags, least = options["chunk-tags"], options["min-chunk-bytes"]
        sound = (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)
                 and type(least) is int and least >= 0)
        if not sound:
            raise TypeError
        chunks = ChunkSettings(tuple(tags), options["chunk-normalise"], options["classic"] is True)
        return LabelSettings(chunks, least)
    except (KeyError, TypeError, SettingError):
        raise UserError(f"{where}: its label settings are incomplete or not allowed; "
                        "make the list anew.") from None


def same_chunks(one: ChunkSettings, other: ChunkSettings) -> bool:
    """Whether both cut and hash every page alike; the order of tags does not matter."""
    return (set(one.tags), one.normalise, one.classic) == (
        set(other.tags), other.normalise, other.classic)


def same_settings(one: LabelSettings, other: LabelSettings) -> bool:
    """Whether labels made with `one` can be looked for on pages cut with `other`."""
    return one.min_chunk_bytes == other.min_chunk_bytes and same_chunks(one.chunks, other.chunks)


def described(settings: LabelSettings) -> str:
    """The settings as they would be typed."""
    chunks = settings.chunks
    cut = "--classic" if chunks.classic else (
        f"--chunk-tags {','.join(chunks.tags)} --chunk-normalise {chunks.normalise}")
    return f"{cut} --min-chunk-bytes {settings.min_chunk_bytes}"
