"""The command `beam-reuse`: parse, run, show. Exit status 0 done, 1 failed, 2 wrong usage."""

import atexit
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from beam_reuse.cli.arguments import Arguments, UsageError, parse
from beam_reuse.cli.help_texts import PROGRAM
from beam_reuse.cli.runs import TooManyRejectsError, execute
from beam_reuse.core.errors import UserError
from beam_reuse.io.files import local_path
from beam_reuse.io.results.run_folder import ResultFolder
from beam_reuse.options.table import settings_from, shown_settings
from beam_reuse.plan import RunPlan, usable_cores

LONGEST_MESSAGE = 600


def entry() -> NoReturn:
    """The installed program. A polite kill cleans up as Ctrl-C does; what Beam logs, and what
    its threads say of a worker that is gone, is shown only with --debug."""
    if "--debug" not in sys.argv:
        logging.getLogger().setLevel(logging.CRITICAL)
        threading.excepthook = lambda _: None
    signal.signal(signal.SIGTERM, _stop)
    status = main(sys.argv[1:])
    if status == 0:
        sys.exit(0)
    # A run that was stopped leaves threads of Beam that wait for ever for a worker's answer.
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(status)


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def main(argv: Sequence[str]) -> int:
    """Run one command line; returns the exit status and never raises but for --help."""
    debug = "--debug" in argv
    try:
        arguments = parse(argv)
        return COMMANDS[arguments.command](arguments, argv)
    except UserError as error:
        return _fail(2, str(error), debug)
    except TooManyRejectsError as error:
        return _fail(1, str(error), debug)
    except KeyboardInterrupt:
        return _fail(1, "stopped; no result was written.", debug)
    except Exception as error:
        if "KeyboardInterrupt" in str(error):
            return _fail(1, "stopped; no result was written.", debug)
        hint = "" if debug else f"\nRun again with --debug for the traceback ({_kind(error)})."
        return _fail(1, short_message(error) + hint, debug)


def _run(arguments: Arguments, argv: Sequence[str]) -> int:
    plan = plan_of(arguments)
    if arguments.values.get("dry-run"):
        return _dry_run(plan)
    from beam_reuse.cli.summary import console, print_summary

    finished = execute(plan, [PROGRAM, *argv])
    print_summary(console(), finished.manifest, plan.output, finished.bytes_read, finished.seconds)
    return 0


def _dry_run(plan: RunPlan) -> int:
    from beam_reuse import pipeline
    from beam_reuse.cli.summary import console, print_dry_run

    ResultFolder(plan.output, plan.overwrite).check()
    settings = shown_settings(plan.command, plan.settings)
    print_dry_run(console(), plan, pipeline.survey(plan), settings)
    return 0


def _demo(arguments: Arguments, argv: Sequence[str]) -> int:
    from beam_reuse.demo.show import run_demo

    return run_demo(arguments.values, arguments.beam_args, [PROGRAM, *argv])


COMMANDS: dict[str, Callable[[Arguments, Sequence[str]], int]] = {
    "run": _run, "index": _run, "demo": _demo,
}


def plan_of(arguments: Arguments) -> RunPlan:
    """The plan that a `run` or `index` command line asks for."""
    values: dict[str, Any] = arguments.values
    if "output" not in values:
        raise UsageError(f"{arguments.command}: give the folder for the result with -o DIR.")
    if not arguments.inputs:
        raise UsageError(f"{arguments.command}: give one or more INPUT: files, folders or globs.")
    return RunPlan(
        command="index" if arguments.command == "index" else "run",
        inputs=tuple(local_path(path) for path in arguments.inputs),
        output=local_path(values["output"]),
        settings=settings_from(values),
        runner=values.get("runner", "local"),
        workers=values.get("workers", usable_cores()),
        beam_args=arguments.beam_args,
        overwrite=values.get("overwrite", False),
    )


def short_message(error: BaseException) -> str:
    """The gist of an error. Beam puts a worker's whole traceback into its message, whose last
    line that is not indented tells what happened."""
    text = str(error).strip()
    if "Traceback (most recent call last)" in text:
        told = [line for line in text.splitlines() if line and not line[0].isspace()]
        text = next((line for line in reversed(told) if ": " in line), text)
    return (text or _kind(error))[:LONGEST_MESSAGE]


def _kind(error: BaseException) -> str:
    return type(error).__name__


def _fail(status: int, message: str, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"{PROGRAM}: {message}", file=sys.stderr)
    return status


