"""`clean --result`: an earlier result decides, so what it was made with holds again."""

from collections.abc import Mapping
from typing import Any

from beam_reuse.analyses.clean.settings import PROVEN, tables_for
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import SettingError
from beam_reuse.io.files import local_path
from beam_reuse.io.results.manifest import Manifest
from beam_reuse.io.results.tables import no_table, read_manifest
from beam_reuse.options.table import BY_NAME
from beam_reuse.options.values import DEFAULTS

# Options that decide which records are pages, and how pages are cut into chunks.
READ_ALIKE = ("captures", "status", "content-types", "max-record-bytes", "max-prefix-depth",
              "max-path-repeats", "parser", "chunk-tags", "chunk-normalise", "classic")


def as_in_result(values: Mapping[str, Any]) -> dict[str, Any]:
    """Option values of `clean`, with those that --result was read with.

    Refuses a result without a table that decides, or whose near-duplicates are proven less than
    asked for, and options that contradict it.
    """
    folder = local_path(values["result"])
    manifest = read_manifest(folder)
    if manifest.kind != "result":
        raise UserError(f"--result {folder}: it is an index, not the result of a run.")
    for table in ("pages", *tables_for(values)):
        if table not in manifest.tables():
            raise UserError(f"--result {no_table(folder, table, manifest.tables())}")
    if "keep" in tables_for(values):
        _require_proof(folder, manifest, values)
    return {**_read_alike(folder, manifest, values), **values, "result": folder}


def _require_proof(folder: str, manifest: Manifest, values: Mapping[str, Any]) -> None:
    asked = values.get(PROVEN, DEFAULTS["clean"][PROVEN])
    proven = manifest.settings.get(PROVEN) or 0
    if proven < asked:
        how = f"with --{PROVEN} {proven}" if proven else f"without --{PROVEN}"
        raise UserError(
            f"--result {folder} was made {how}, so that pages may go of which less than {asked:g} "
            f"stays. Run it again with --{PROVEN} {asked:g}, or give --{PROVEN} {proven} here to "
            "take it as it is.")


def _read_alike(folder: str, manifest: Manifest, values: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name in READ_ALIKE:
        shown = manifest.settings.get(name)
        if shown is None:
            continue
        text = ",".join(map(str, shown)) if isinstance(shown, list) else str(shown)
        found[name] = BY_NAME[name].read(text.lower() if isinstance(shown, bool) else text)
        if name in values and values[name] != found[name]:
            raise SettingError(f"--{name}: --result {folder} was made with {text}, and has other "
                               "pages. Leave the option out.")
    return found
