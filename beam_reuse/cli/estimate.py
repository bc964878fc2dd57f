"""The command `estimate`: what a run will need, before it is started."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console

from beam_reuse.cli.progress import clock
from beam_reuse.core.wording import megabytes, percent
from beam_reuse.estimates.measuring import measured
from beam_reuse.estimates.sampling import draw
from beam_reuse.estimates.scaling import Estimate, Grouping, Range, scaled
from beam_reuse.pages.inputs import Inputs
from beam_reuse.pages.sizes import shuffle_for
from beam_reuse.plan import RunPlan
from beam_reuse.runners import memory_for

SAMPLE = 256 << 20
SHOWN = 8
HOUR = 3600.0


def estimated(plan: RunPlan, sample: int) -> Estimate:
    """What the plan needs, by runs on nothing, on two halves of a sample and on both."""
    drawn = draw(plan.inputs, sample)
    print(f"a sample of {megabytes(drawn.whole.bytes)} of {megabytes(drawn.total)}",
          file=sys.stderr)
    measured(plan, drawn.halves[0])  # loads what is loaded once, and is not counted
    idle = measured(plan, Inputs((), (), ()))
    halves = tuple(measured(plan, half) for half in drawn.halves)
    whole = measured(plan, drawn.whole)
    shuffle = shuffle_for(drawn.total, "spill", memory_for(plan, drawn.total))
    return scaled((halves[0], halves[1]), whole, idle, drawn.total, shuffle)


def print_estimate(to: Console, found: Estimate, plan: RunPlan, values: Mapping[str, Any]) -> None:
    """Each number with its spread, the largest groupings, and what would change it most."""
    for line in lines_of(found, plan.workers, values.get("price")):
        to.print(line, markup=False, soft_wrap=True)


def lines_of(found: Estimate, workers: int, price: float | None) -> Iterator[str]:
    hours = found.cpu.times(1 / HOUR)
    yield f"estimate for {megabytes(found.size)}, from {megabytes(found.sample)} of it"
    yield f"  pages             {_numbers(found.pages)}"
    yield f"  CPU hours         {_shown(hours, lambda number: f'{number:.3g}')}"
    yield (f"  time, {workers} worker{'s' if workers > 1 else ''}{' ' * (9 - len(str(workers)))}"
           f"{_shown(found.seconds(workers), clock)}")
    if price is not None:
        yield f"  money             {_shown(hours.times(price), lambda number: f'{number:,.2f}')}"
    yield f"  disk              {_shown(found.disk, megabytes)}"
    yield f"  memory, a worker  {_shown(found.memory, megabytes)}"
    yield f"  memory, runner    {_shown(found.runner, megabytes)}"
    yield f"  shuffled          {_shown(found.shuffled, megabytes)}"
    largest = sorted(found.groupings, key=lambda each: -each.bytes.likely)
    yield f"groupings: {len(largest)}, the largest:"
    for each in largest[:SHOWN]:
        yield (f"  {_named(each)}: rows {_numbers(each.rows)}, {_shown(each.bytes, megabytes)}, "
               f"pieces {_numbers(each.pieces)}")
    yield from _changes(found)


def _changes(found: Estimate) -> Iterator[str]:
    """What would change the estimate most: whose most bytes are, and the widest spread."""
    shuffled = found.shuffled.likely
    if not shuffled:
        return
    by_owner: dict[str, float] = {}
    for each in found.groupings:
        by_owner[each.owner] = by_owner.get(each.owner, 0.0) + each.bytes.likely
    owner = max((name for name in by_owner if name), key=by_owner.__getitem__, default="")
    if owner:
        yield (f"what would change it most: {percent(by_owner[owner] / shuffled)} of the bytes are "
               f"shuffled for {owner.replace('_', '-')}; with fewer --analyses it is less")
    widest = max(found.groupings, key=lambda each: each.bytes.high - each.bytes.low)
    yield (f"least certain: {_named(widest)}, {_shown(widest.bytes, megabytes)}; a larger --sample "
           "says more")


def _named(grouping: Grouping) -> str:
    owner = grouping.owner.replace("_", "-")
    return f"{grouping.name} ({owner})" if owner else grouping.name


def _numbers(value: Range) -> str:
    return _shown(value, lambda number: f"{round(number):,}")


def _shown(value: Range, show: Any) -> str:
    return f"{show(value.likely)} ({show(value.low)} to {show(value.high)})"
