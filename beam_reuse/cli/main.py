"""The command `beam-reuse`: parse, run, show. Exit status 0 done, 1 failed, 2 wrong usage."""

import atexit
import logging
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn, cast

from beam_reuse.analyses.clean.settings import analyses_for
from beam_reuse.cli.arguments import Arguments, UsageError, parse, spelled
from beam_reuse.cli.help_texts import PROGRAM
from beam_reuse.cli.runs import execute, launch
from beam_reuse.cli.shortages import shortages
from beam_reuse.core import stopping
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import naming
from beam_reuse.declaring.about import loaded
from beam_reuse.declaring.registry import require_sound
from beam_reuse.io.files import local_path
from beam_reuse.io.results.run_folder import ResultFolder
from beam_reuse.options.table import BY_NAME, EXPERIMENTS
from beam_reuse.options.values import settings_from, shown_settings
from beam_reuse.plan import Command, RunPlan, usable_cores
from beam_reuse.publishing import TooManyRejectsError
from beam_reuse.runners import ENGINES, require
from beam_reuse.runners.forks import QUIET

LONGEST_MESSAGE = 600
NO_MEMORY = ("memory ran out. Say with --worker-memory how much each process of a run may take "
             "(--dry-run shows what it would), or give fewer --workers.")
_NO_MEMORY = re.compile(r"^(?:\w+\.)*\w*MemoryError\b", re.MULTILINE)


def entry() -> NoReturn:
    """The installed program. A polite kill cleans up as Ctrl-C does; what Beam logs, what its
    threads say of a worker that is gone, and what libraries warn of is shown only with --debug."""
    if "--debug" not in sys.argv:
        logging.getLogger().setLevel(logging.CRITICAL)
        threading.excepthook = lambda _: None
        warnings.simplefilter("ignore")
        os.environ.update({"PYTHONWARNINGS": "ignore", QUIET: "1"})  # for workers
    stopping.listen("--debug" in sys.argv)
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:  # a second one, while the first was answered
        status = 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Taking the interpreter down takes a second, and for ever where a thread of Beam waits for
    # a worker that is gone.
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(status)


def main(argv: Sequence[str]) -> int:
    """Run one command line; returns the exit status and never raises but for --help."""
    debug = "--debug" in argv
    stopping.written.clear()
    try:
        require_sound()
        arguments = parse(argv)
        return COMMANDS[arguments.command](arguments, argv)
    except UserError as error:
        return _fail(2, str(error), debug)
    except TooManyRejectsError as error:
        return _fail(1, str(error), debug)
    except KeyboardInterrupt:
        return _fail(1, stopping.words(), debug)
    except BrokenPipeError:
        # Whoever read our words has gone; what was written stays.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if stopping.was_asked():
            return _fail(1, stopping.words(), debug)
        hint = "" if debug else f"\nRun again with --debug for the traceback ({_kind(error)})."
        return _fail(1, short_message(error) + hint, debug)


def _run(arguments: Arguments, argv: Sequence[str]) -> int:
    plan = plan_of(arguments)
    if arguments.values.get("dry-run"):
        return _dry_run(plan)
    require(plan)
    if plan.is_launched:
        launch(plan, [PROGRAM, *argv])
        from beam_reuse.cli.summary import console

        console().print(f"The job is described; it will write the result to {plan.output}",
                        soft_wrap=True)
        return 0
    for warning in shortages(plan):
        print(f"{PROGRAM}: {warning}", file=sys.stderr)
    finished = execute(plan, [PROGRAM, *argv])
    from beam_reuse.cli.summary import console, print_summary  # not before workers are started

    print_summary(console(), finished.manifest, plan.output, finished.bytes_read, finished.seconds,
                  finished.measured)
    return 0


def _labels(arguments: Arguments, argv: Sequence[str]) -> int:
    if "grams" in arguments.values:
        from beam_reuse.cli.gram_lists import make_gram_list

        return make_gram_list(arguments.inputs, arguments.values)
    for name in ("eval-id", "eval-fields", "max-items-per-gram"):
        if name in arguments.values:
            raise UsageError(f"labels: --{name} is for gram labels: add --grams 13.")
    plan = plan_of(arguments)
    if arguments.values.get("dry-run"):
        return _dry_run(plan)
    require(plan)
    from beam_reuse.cli.label_lists import make_labels
    from beam_reuse.cli.summary import console, print_labels

    print_labels(console(), make_labels(plan), plan.output)
    return 0


def _dry_run(plan: RunPlan) -> int:
    """Show what a run would do, and then refuse it as it would; at once if that saves asking for
    files elsewhere."""
    from beam_reuse import pipeline
    from beam_reuse.cli.summary import console, print_dry_run

    refusal = None
    try:
        require(plan)
    except UserError as error:
        if any("://" in path for _, path in plan.places):
            raise
        refusal = error
    if plan.command == "labels":
        from beam_reuse.cli.label_lists import refuse_existing

        refuse_existing(plan)
    else:
        ResultFolder(plan.output, plan.overwrite).check()
    settings = shown_settings(plan.command, plan.settings)
    print_dry_run(console(), plan, pipeline.survey(plan), settings)
    if refusal is not None:
        raise refusal
    return 0


def _estimate(arguments: Arguments, argv: Sequence[str]) -> int:
    """A run that is only estimated: no folder is needed for it."""
    plan = plan_of(replace(arguments, values={**arguments.values, "output": "estimate"}))
    from beam_reuse.cli.estimate import SAMPLE, estimated, print_estimate
    from beam_reuse.cli.summary import console

    print_estimate(console(), estimated(plan, arguments.values.get("sample", SAMPLE)), plan,
                   arguments.values)
    return 0


def _demo(arguments: Arguments, argv: Sequence[str]) -> int:
    from beam_reuse.cli.demonstration import run_demo

    return run_demo(arguments.values, arguments.beam_args, [PROGRAM, *argv])


def _without_plan(arguments: Arguments, argv: Sequence[str]) -> int:
    """A command that runs no graph; it alone is imported."""
    status: int = loaded(WITHOUT_PLAN[arguments.command])(arguments.inputs, arguments.values)
    return status


def _experiment(arguments: Arguments, argv: Sequence[str]) -> int:
    from beam_reuse.cli.experiments import run_experiment

    return run_experiment(arguments, plan_of(arguments), [PROGRAM, *argv])


WITHOUT_PLAN = {
    "check": "beam_reuse.cli.checking:run_check", "sample": "beam_reuse.cli.judging:run_sample",
    "evaluate": "beam_reuse.cli.judging:run_evaluate",
    "completion": "beam_reuse.cli.completion:run_completion",
    "engines": "beam_reuse.cli.engines:run_engines",
    "report": "beam_reuse.cli.reports:run_report", "sql": "beam_reuse.cli.sql:run_sql",
    "view": "beam_reuse.cli.viewing:run_view",
}
COMMANDS: dict[str, Callable[[Arguments, Sequence[str]], int]] = {
    **dict.fromkeys(("run", "clean", "decontaminate", "index"), _run), "labels": _labels,
    "estimate": _estimate, "demo": _demo,
    **dict.fromkeys(EXPERIMENTS.split(), _experiment), **dict.fromkeys(WITHOUT_PLAN, _without_plan),
}


def plan_of(arguments: Arguments) -> RunPlan:
    """The plan that the command line of a run of any kind asks for."""
    command, values = arguments.command, dict(arguments.values)
    if "output" not in values:
        what = "file for the list with -o FILE" if command == "labels" else (
            "folder for the result with -o DIR")
        raise UsageError(f"{spelled(command)}: give the {what}.")
    if not arguments.inputs and "merge" not in values:
        raise UsageError(f"{spelled(command)}: give one or more INPUT: files, folders or globs."
                         f"{_hint(values)}")
    from beam_reuse.cli.adopting import adopted, report_judged

    values = adopted(command, values)
    report_judged(values)
    if "runner" not in values:
        _refuse_engine_options(arguments.beam_args)
    needed: tuple[str, ...] = (command,) if command == "decontaminate" else ()
    if command == "clean":
        values = _cleaning(values)
        needed = analyses_for(values)
    if "decontaminate" in needed:
        values["against"] = _evals(spelled(command), values.get("against", ()))
    settings = settings_from(values, command)
    _require_indexes(values.get("add", ()))
    if command in ("clean", "decontaminate"):
        settings = replace(settings, analyses=needed)
    with naming({"inputs": "INPUT", "workers": "--workers", "background": "--background",
                 "background_hosts": "--background-hosts", "all_chunks": "--all-chunks"}):
        return RunPlan(
            command=("run" if command in (*EXPERIMENTS.split(), "estimate")
                     else cast(Command, command)),
            inputs=tuple(map(local_path, (*arguments.inputs, *values.get("add", ())))),
            output=local_path(values["output"]),
            settings=settings,
            merge=tuple(map(local_path, values.get("merge", ()))),
            remove=tuple(map(local_path, values.get("remove", ()))),
            background=(tuple(map(local_path, values.get("background", ())))
                        if command == "labels" else ()),
            background_hosts=values.get("background-hosts", 3),
            all_chunks=values.get("all-chunks", False),
            baseline=tuple(map(local_path, values.get("baseline", ()))),
            runner=values.get("runner", "local"),
            workers=values.get("workers", usable_cores()),
            beam_args=arguments.beam_args,
            overwrite=values.get("overwrite", False),
            engines=values.get("engines-dir", ""),
            worker_memory=values.get("worker-memory", 0),
        )


def _require_indexes(folders: Sequence[str]) -> None:
    """Refuse to add what is no index."""
    if folders:
        from beam_reuse.io.index import require_index

        for folder in folders:
            require_index("--add", local_path(folder))


def _evals(command: str, paths: Sequence[str]) -> tuple[str, ...]:
    """The evaluation files that are named; refuses those that cannot be read before anything
    runs."""
    if not paths:
        raise UsageError(f"{command}: give evaluation files with --against FILE...")
    from beam_reuse.io.evals import list_evals

    return tuple(file.path for file in list_evals(paths))


def _cleaning(values: dict[str, Any]) -> dict[str, Any]:
    """What `clean` is asked for, with the settings of the result that decides. Refuses lists of
    URLs that cannot be read before anything runs."""
    if paths := values.get("drop-table"):
        from beam_reuse.io.corpus.url_lists import require_list

        for path in paths:
            require_list(path)
    if values.get("result"):
        from beam_reuse.cli.earlier import as_in_result

        values = as_in_result(values)
    return values


def _refuse_engine_options(beam_args: Sequence[str]) -> None:
    """Refuse options of an engine that nobody has asked for."""
    for argument in beam_args:
        name = argument.partition("=")[0]
        engine = next((each for each in ENGINES if name.startswith(f"--{each}_")), None)
        if engine is not None:
            raise UsageError(f"{name} is an option of {engine}, and this run would be a local one. "
                             f"Add --runner {engine}.")


def _hint(values: dict[str, Any]) -> str:
    """Where INPUT may have gone: an option with many files takes all that follow it."""
    greedy = [name for name in values if BY_NAME[name].takes_many]
    return f" They are before --{greedy[0]}, which takes all files that follow it." if (
        greedy) else ""


def short_message(error: BaseException) -> str:
    """The gist of an error. Beam puts a worker's whole traceback into its message, whose last
    line that is not indented says what happened; an error of ours says all without its name."""
    text = str(error).strip()
    if isinstance(error, MemoryError) or _NO_MEMORY.search(text):
        return NO_MEMORY
    if "Traceback (most recent call last)" in text:
        told = [line for line in text.splitlines() if line and not line[0].isspace()]
        text = next((line for line in reversed(told) if ": " in line), text)
    text = re.sub(r"^beam_reuse[.\w]+: | \[while running '[^']*'\]$|\[Errno -?\d+\] ", "",
                  text.strip())
    return (text or _kind(error))[:LONGEST_MESSAGE]


def _kind(error: BaseException) -> str:
    return type(error).__name__


def _fail(status: int, message: str, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"{PROGRAM}: {message}", file=sys.stderr)
    return status


