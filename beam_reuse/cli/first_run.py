"""What only the first run on a machine does: compiling kernels, and saying so."""

import sys
import time
from typing import TextIO

from beam_reuse.cli.progress import display_on
from beam_reuse.kernels.precompiling import compile_known
from beam_reuse.plan import usable_cores

WORDS = "compiling kernels, first run only, {} of {}"


def compile_kernels(out: TextIO | None = None) -> None:
    """Compile what this user has not compiled yet, on all cores, and show how far it is."""
    display = display_on(out or sys.stderr)
    started = time.monotonic()
    shown = 0.0

    def report(done: int, of: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if done in (0, of) or now - shown > display.seconds:
            if not done:
                display.open()
            display.show(WORDS.format(done, of), done, of, now - started)
            shown = now
            if done == of:
                display.close()

    compile_known(report, usable_cores())
