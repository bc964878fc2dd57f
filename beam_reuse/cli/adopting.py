"""Labels say how their pages were cut; what looks for them must cut alike."""

import sys
from collections.abc import Mapping
from typing import Any

from beam_reuse.core.settings import SettingError

LISTS = {"run": "labels", "clean": "labels", "labels": "merge", "check": "labels"}
LEAST = ("min-chunk-bytes", "min-chunk-tokens")


def adopted(command: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Option values with the chunk settings of the lists of labels that are given.

    Refuses a value that was given and differs: nothing would match, silently. Only a larger
    --min-chunk-bytes or --min-chunk-tokens is sound where labels are looked for: what is shorter
    does not count.
    """
    option = LISTS.get(command, "")
    lists: tuple[str, ...] = values.get(option, ())
    if not lists and not values.get("remove"):
        return dict(values)  # at once: what reads lists takes a third of a second to import
    from beam_reuse.io.labels.label_settings import options_of
    from beam_reuse.io.labels.loading import carried_settings

    for path in (*lists, *values.get("remove", ())):
        _require_list(path)
    # `check` reads them at once.
    if values.get("matcher") == "nilsimsa" and command in ("run", "clean"):
        _require_digests(lists)
    made_with = carried_settings(lists)
    if made_with is None:
        return dict(values)
    carried = options_of(made_with)
    for name, value in carried.items():
        stricter = name in LEAST and command != "labels" and values.get(name, 0) > value
        if name in values and values[name] != value and not stricter:
            raise SettingError(
                f"--{name}: the labels of --{option} {lists[0]} were made with "
                f"{_shown(value)}, and chunks cut otherwise would not match. Leave the option "
                f"out{_or_larger(name, command)}, or make the labels anew.")
    return {**carried, **values}


def report_judged(values: Mapping[str, Any]) -> None:
    """Report how many rows of each judged sheet are taken as stop chunks, and refuse one that
    says nothing yet before anything runs."""
    if not values.get("stop-chunks"):
        return
    from beam_reuse.io.labels.judged_lists import read_judged
    from beam_reuse.io.labels.lists import is_judged

    for path in filter(is_judged, values["stop-chunks"]):
        found = read_judged(path)
        rest = [f"{count:,} {what}" for count, what in (
            (found.otherwise, "judged otherwise"), (found.unlabelled, "without label")) if count]
        also = f" ({', '.join(rest)} not taken)" if rest else ""
        print(f"--stop-chunks {path}: {found.benign:,} rows judged benign are taken{also}.",
              file=sys.stderr)


def _require_list(path: str) -> None:
    """Refuse what is no list before anything runs; its first rows are read."""
    from beam_reuse.io.labels.lists import read_list

    next(iter(read_list(path, details=False)), None)


def _require_digests(lists: tuple[str, ...]) -> None:
    from beam_reuse.io.labels.lists import read_list
    from beam_reuse.io.labels.similar import no_digests

    for path in lists:
        if not any(batch.column("nilsimsa").null_count < len(batch) for batch in read_list(path)):
            raise no_digests(path)


def _or_larger(name: str, command: str) -> str:
    return ", give a larger number" if name in LEAST and command != "labels" else ""


def _shown(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value).lower()
