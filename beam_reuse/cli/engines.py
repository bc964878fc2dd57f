"""`beam-reuse engines`: fetch what cluster runs need, check it, and say what was done."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from beam_reuse.cli.suggestions import did_you_mean
from beam_reuse.cli.summary import console
from beam_reuse.core.errors import UserError
from beam_reuse.core.wording import counted, megabytes
from beam_reuse.runners.fetching import Fetched, fetch, kits_folder
from beam_reuse.runners.kits import FIRST, KITS
from beam_reuse.runners.processes import java_version


def run_engines(names: Sequence[str], values: Mapping[str, Any]) -> int:
    """Fetch and check the kits in `names`, the job servers if there are none."""
    unknown = [name for name in names if name not in KITS]
    if unknown:
        raise UserError(f"engines: unknown engine {unknown[0]!r}."
                        f"{did_you_mean(unknown[0], KITS)} There are {', '.join(KITS)}.")
    to = console()
    folder = kits_folder(values.get("engines-dir", ""))
    asked = dict.fromkeys(names or FIRST)
    for name in asked:
        to.print(f"{name}: looking for it in {folder}", soft_wrap=True)
        _tell(to, fetch(KITS[name], folder))
    if any(KITS[name].needs_java for name in asked):
        to.print(f"Java {java_version()}", soft_wrap=True)
    return 0


def _tell(to: Console, fetched: Fetched) -> None:
    to.print(f"  {fetched.what}", soft_wrap=True)
    to.print(f"  {fetched.done} in {fetched.seconds:.0f} s: {counted(fetched.files, 'file')}, "
             f"{megabytes(fetched.bytes)}, in {fetched.folder}", soft_wrap=True)
