"""The command `labels --grams`: evaluation files become a list of gram labels, for `check`."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beam_reuse.analyses.decontaminate.settings import DecontaminateSettings
from beam_reuse.cli.arguments import UsageError
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import naming
from beam_reuse.core.tokens import scan_plain
from beam_reuse.core.wording import counted
from beam_reuse.io.crawl.inputs import InputFile
from beam_reuse.io.crawl.rows import utf8
from beam_reuse.io.evals import BadRow, EvalFields, list_evals, read_evals
from beam_reuse.io.files import local_path, require_writable
from beam_reuse.io.labels.gram_lists import (
    GramSettings,
    LabelledItem,
    item_batch,
    write_gram_list,
)

_ENDING = ".parquet"
_AT_ONCE = 4096
_OTHERS = ("merge", "remove", "background", "background-hosts", "all-chunks", "matcher")


def make_gram_list(inputs: Sequence[str], values: Mapping[str, Any]) -> int:
    """Write the list, and say what became of the rows; refuses what is for other labels."""
    for name in _OTHERS:
        if name in values:
            raise UsageError(f"labels: --{name} is for labels of chunks, not for --grams.")
    if "output" not in values or not inputs:
        raise UsageError("labels: give evaluation files, and the file for the list with -o FILE.")
    output = local_path(values["output"])
    if not output.endswith(_ENDING):
        raise UserError(f"-o {output}: gram labels are Parquet. End the name in {_ENDING}.")
    require_writable(output)
    if os.path.exists(output) and not values.get("overwrite"):
        raise UserError(f"-o {output} exists already. Add --overwrite to replace it, or choose "
                        "another name.")
    with naming({"gram_size": "--grams", "max_items_per_gram": "--max-items-per-gram"}):
        settings = DecontaminateSettings(
            gram_size=values["grams"], id=values.get("eval-id") or "",
            fields=values.get("eval-fields", ()),
            max_items_per_gram=values.get("max-items-per-gram",
                                          DecontaminateSettings.max_items_per_gram))
    counts: Counter[str] = Counter()
    files = list_evals([local_path(path) for path in inputs])
    written = write_gram_list(output, _batches(files, settings, counts), GramSettings(
        settings.gram_size, settings.max_items_per_gram))
    _report(written, counts, output, settings.least_tokens)
    return 0


def _batches(
    files: Sequence[InputFile], settings: DecontaminateSettings, counts: Counter[str],
) -> Iterator[pa.RecordBatch]:
    held: list[LabelledItem] = []
    for file in files:
        for row in read_evals(file, EvalFields(settings.id, settings.fields)):
            if isinstance(row, BadRow):
                counts["bad"] += row.rows
                print(f"{file.name}, row {row.row}: {row.reason}: {row.detail}", file=sys.stderr)
                continue
            for item in row:
                tokens = scan_plain(utf8(item.text)).tokens
                counts["short"] += len(tokens) < settings.least_tokens
                if len(tokens) >= settings.least_tokens:
                    held.append((file.name, utf8(item.id).decode(), utf8(item.field).decode(),
                                 tokens))
            if len(held) >= _AT_ONCE:
                yield item_batch(held)
                held = []
    if held:
        yield item_batch(held)


def _report(written: int, counts: Counter[str], path: str, least: int) -> None:
    left = [f"{counted(counts['short'], 'text')} of fewer than {least} tokens"] * (
        counts["short"] > 0) + [f"{counted(counts['bad'], 'row')} that cannot be read"] * (
        counts["bad"] > 0)
    print(f"{counted(written, 'item')} in {path}" + (
        f"; left out: {', '.join(left)}" if left else ""))
