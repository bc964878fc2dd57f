"""What a user reads at the end of a run: every record's fate, the tables, the time.

The same words in a terminal (with colours) and in a pipe (without).
"""

import sys
from collections.abc import Iterator, Mapping
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from beam_reuse.analyses.reuse.settings import IN_BACKGROUND, ON_SEVERAL_DOMAINS
from beam_reuse.cli.label_lists import MadeLabels
from beam_reuse.cli.progress import clock
from beam_reuse.core.wording import counted, megabytes, printable
from beam_reuse.declaring.about import loaded
from beam_reuse.declaring.kinds import show_size
from beam_reuse.declaring.registry import known
from beam_reuse.io.files import join
from beam_reuse.io.results.manifest import Accounting, Manifest
from beam_reuse.io.results.result import Result
from beam_reuse.plan import RunPlan, Survey

PIPE_WIDTH = 160
FILES_SHOWN = 10
# Sentences on what was counted, by the beginning of its name; the rest is in the manifest alone.
HINTS = {name: sentence for about in known().values() for name, sentence in about.counts.items()
         if sentence}
UNTOLD = tuple(name for about in known().values() for name, sentence in about.counts.items()
               if not sentence)


def console(out: TextIO | None = None) -> Console:
    """Where summaries go: the terminal's width, or one wide enough not to cut anything."""
    target = out or sys.stdout
    return Console(file=target, width=None if target.isatty() else PIPE_WIDTH, highlight=False)


def print_summary(
    to: Console, manifest: Manifest, folder: str, bytes_read: int, seconds: float,
    measured: Mapping[str, int] | None = None,
) -> None:
    """Accounting, tables with rows, time and speed of a finished run."""
    print_table(to, _accounting(manifest.accounting))
    print_table(to, _tables(manifest))
    for line in findings(manifest, folder, measured):
        to.print(printable(line), markup=False, soft_wrap=not to.is_terminal,
                 overflow="ellipsis", no_wrap=True)
    speed = f", {megabytes(bytes_read / seconds)}/s" if seconds > 0 and bytes_read else ""
    time = f"{seconds:.1f} s" if seconds < 60 else clock(seconds)
    to.print(f"{megabytes(bytes_read)} read in {time}{speed}")
    to.print(Text.assemble((manifest.kind, "bold"), f" in {folder}"), soft_wrap=True)
    for name in manifest.files:
        to.print(Text.assemble(("report", "bold"), f" in {join(folder, name)}"), soft_wrap=True)


def findings(
    manifest: Manifest, folder: str, measured: Mapping[str, int] | None = None,
) -> Iterator[str]:
    """What the analyses found whose tables are there, in a few lines that each has itself, and a
    hint where there was nothing. Tables are read in batches."""
    if manifest.accounting.records and not manifest.accounting.pages:
        yield "No record became a page: the reasons above say why."
        yield ""
    there = Result(manifest, folder, measured)
    for about in known().values():
        if about.findings and any(there.has(schema) for schema in about.schemas()):
            yield from loaded(about.findings)(there)


def print_labels(to: Console, made: MadeLabels, path: str) -> None:
    """What became of the originals, and how many labels they gave."""
    if made.accounting.records:
        print_table(to, _accounting(made.accounting))
        to.print(f"{megabytes(made.bytes_read)} read in {made.seconds:.1f} s")
    for line in left_out(made):
        to.print(printable(line), markup=False, soft_wrap=True)
    to.print(Text.assemble((counted(made.labels, "label"), "bold"), f" in {path}"), soft_wrap=True)


def left_out(made: MadeLabels) -> Iterator[str]:
    """Which chunks are no labels, as they do not say whose they are."""
    several, elsewhere = (made.accounting.noted.get(name, 0) for name in (
        ON_SEVERAL_DOMAINS, IN_BACKGROUND))
    if several:
        yield (f"left out: {counted(several, 'chunk')} on several registered domains "
               "(--all-chunks keeps them)")
    if made.background_hosts is not None:
        yield (f"left out: {counted(elsewhere, 'chunk') if elsewhere else 'no chunk'} on more than "
               f"{counted(made.background_hosts, 'host')} of other domains in the background")
    if made.lost:
        yield from _lost(made)


def _lost(made: MadeLabels) -> Iterator[str]:
    """Pages of which no copy will be found, and what to do."""
    has = "has no chunk" if made.lost == 1 else "have no chunk"
    yield (f"{counted(made.lost, 'page')} of the originals {has} left, so that no copy of "
           f"{'it' if made.lost == 1 else 'them'} is found by this list:")
    for row in made.named:
        several, host = row["on_several_domains"], row["background_host"]
        why = [f"{several:,} on several domains of the originals"] if several else []
        why += [f"{row['chunks'] - several:,} in the background, as on {host}"] if host else []
        yield f"  {row['url']} ({counted(row['chunks'], 'chunk')}: {', '.join(why)})"
    if made.lost > len(made.named):
        yield f"  ... and {made.lost - len(made.named):,} more"
    yield ("If those are copies of these pages (a phish among the originals, or in the "
           "background), take them out there and make the list again; --background-hosts N bears "
           "more of them, --all-chunks leaves nothing out.")


def print_table(to: Console, table: Table) -> None:
    """Print a table and an empty line; in a pipe without the blanks that pad its columns."""
    with to.capture() as shown:
        to.print(table)
    lines = shown.get().splitlines()
    to.file.write("\n".join(lines if to.is_terminal else map(str.rstrip, lines)) + "\n\n")


def _grid() -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _accounting(accounting: Accounting) -> Table:
    """records = pages + skipped + rejected, with the reasons of each below it."""
    table = _grid()
    table.add_row("[bold]records", f"[bold]{accounting.records:,}",
                  "= pages + skipped + rejected")
    table.add_row("  pages", f"{accounting.pages:,}", "")
    table.add_row("  skipped", f"{accounting.skipped_total:,}", _reasons(accounting.skipped))
    style = "red" if accounting.rejected_total else "none"
    table.add_row("  rejected", f"{accounting.rejected_total:,}", _reasons(accounting.rejected),
                  style=style)
    told = {name: count for name, count in accounting.noted.items() if not name.startswith(UNTOLD)}
    if told:
        table.add_row("counters", "", _reasons(told))
        for name, hint in HINTS.items():
            if any(noted.startswith(name) for noted in told):
                table.add_row("", "", f"{name}: {hint}")
    return table


def _reasons(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{reason} {count:,}" for reason, count in ordered)


def _tables(manifest: Manifest) -> Table:
    table = _grid()
    table.add_row("[bold]table", "[bold]rows", "")
    for name, parts in manifest.tables().items():
        files = counted(len(parts), "file") if len(parts) > 1 else ""
        table.add_row(f"  {name}", f"{sum(part.rows for part in parts):,}", files)
    return table


def print_dry_run(to: Console, plan: RunPlan, survey: Survey, settings: Mapping) -> None:
    """What a run would do."""
    to.print(f"{counted(len(survey.files), 'input file')}, {megabytes(survey.bytes)}:")
    for path, size in survey.files[:FILES_SHOWN]:
        to.print(f"  {path} ({megabytes(size)})", markup=False, soft_wrap=True)
    if len(survey.files) > FILES_SHOWN:
        to.print(f"  … and {len(survey.files) - FILES_SHOWN:,} more")
    to.print("settings:")
    for name, value in settings.items():
        to.print(f"  {name}: {value}", markup=False, soft_wrap=True)
    groupings = sum("Shuffle" in step or "Gather" in step for step in survey.steps)
    to.print(f"graph: {counted(len(survey.steps), 'step')}, {groupings} of them groupings, in "
             f"{counted(len(survey.rounds), 'round')}:")
    for number, names in enumerate(survey.rounds):
        to.print(f"  {number}: {', '.join(names)}", markup=False, soft_wrap=True)
    sizes = survey.sizes
    to.print(f"sizes: {counted(sizes.ranges, 'range')} of crawl files; {sizes.buckets:,} buckets, "
             f"sorted {show_size(sizes.budget)} at a time, from files of {show_size(sizes.flush)}; "
             f"memory of a worker {megabytes(sizes.memory)}", soft_wrap=True)
    where = f", {counted(plan.workers, 'worker')}" if plan.runner.lower() == "local" else ""
    if plan.beam_args:
        to.print(f"options of Beam: {' '.join(plan.beam_args)}", markup=False, soft_wrap=True)
    to.print(f"runner {plan.runner}{where}; the result would go to {plan.output}", markup=False,
             soft_wrap=True)
    to.print("Dry run: nothing was written.")
