"""The words of `--help` that are not about a single option.

What help says of a command is a text in the folder `help`, as it is shown; in braces is what
follows from elsewhere, {options} where the list of options is.
"""

import pkgutil

from beam_reuse.core.verdicts import WORDS
from beam_reuse.declaring.registry import known

PROGRAM = "beam-reuse"

COMMANDS = {
    "demo": ("[-o DIR] [OPTIONS]", "make a small crawl with known reuse, run it, check the tables"),
    "run": ("INPUT... -o DIR [OPTIONS]", "find reuse in crawl files; writes tables (Parquet)"),
    "clean": ("INPUT... -o DIR [OPTIONS]",
              "write the corpus without what is superfluous, and an account of what went"),
    "decontaminate": ("INPUT... --against FILE... -o DIR [OPTIONS]",
                      "find items of evaluation sets in a corpus"),
    "estimate": ("INPUT... [OPTIONS]",
                 "say what a run will need: disk, memory, time, money"),
    "index": ("INPUT... -o DIR [OPTIONS]", "parse crawl files once, for many later runs"),
    "labels": ("[INPUT...] -o FILE [OPTIONS]", "make a list of known content to look for"),
    "check": ("[PAGE...] --labels FILE | --trust first-use --store FILE [OPTIONS]",
              "is this page made of known content? answers at once, without Beam"),
    "experiment": ("inject|mutate|thresholds ... -o DIR [OPTIONS]",
                   "the papers' experiments on a site of yours, with figures"),
    "report": ("DIR", "write report.html of a result again, from its tables"),
    "view": ("DIR [OPTIONS]", "look at a result in the browser: compare pages, follow copies"),
    "sql": ("DIR [QUERY] [OPTIONS]", "ask the tables of a result; without a query, a prompt"),
    "sample": ("DIR --of TABLE [OPTIONS]", "draw rows of a table for people to judge, as CSV"),
    "evaluate": ("DIR --pages|--pairs FILE [OPTIONS]",
                 "precision and recall, by labelled pages or pairs"),
    "engines": ("[ENGINE...] [OPTIONS]",
                "fetch and check what runs on Flink, Spark and Prism need"),
    "completion": ("SHELL", "print what completes command lines in bash, zsh or fish"),
}
EXPERIMENT = "experiment"
EXPERIMENTS = {
    "inject": "SITE... [--background INPUT...] -o DIR [OPTIONS]",
    "mutate": "SITE... [--background INPUT...] -o DIR [OPTIONS]",
    "thresholds": "INPUT... --bad FILE... --benign FILE... -o DIR [OPTIONS]",
}
# Commands that run no pipeline, and so take none of Beam's options.
WITHOUT_BEAM = ("check", "report", "view", "sql", "sample", "evaluate", "engines",
                "completion")

POSITIONALS = {
    "INPUT": "files, folders or globs, local or on gs://, s3://, hdfs://: WARC and ARC (.gz, "
    ".zst), WET, folders of HTML or text, JSON Lines and Parquet with url and html or text, and "
    "folders written by `index`",
    "DIR": "folder written by `run`",
    "PAGE": "files of pages (HTML, text, code), or any crawl files and folders that `run` reads; "
    "- or nothing for standard input",
    "QUERY": "SQL in which every table of the result is a table; - reads it from standard input",
    "ENGINE": "flink, spark (default: these two), flink-1.20, flink-2.0, flink-2.1, flink-2.2, "
    "prism, flink-cluster, flink-1.20-cluster, spark-cluster",
    "SHELL": "bash, zsh or fish",
}


def help_of(command: str) -> tuple[str, str]:
    """What help says of a command before its options, and after them."""
    text = (pkgutil.get_data(__package__, f"help/{command}.txt") or b"").decode()
    for name, words in (
        ("commands", _commands()), ("analyses", _analyses()), ("labels", _labels()),
    ):
        text = text.replace(f"{{{name}}}", words)
    before, _, after = text.partition("{options}")
    return before.strip("\n"), after.strip("\n")


def _commands() -> str:
    width = max(map(len, COMMANDS)) + 2
    return "\n".join(f"  {name:{width}}{about}" for name, (_, about) in COMMANDS.items())


def _analyses() -> str:
    return "\n\n".join(
        f" {about.name}: {about.question}\n{about.help}" for about in known().values()
        if about.command == "run")


def _labels() -> str:
    return "\n".join(f"  {verdict.value:11}{' '.join(words)}" for verdict, words in WORDS.items())
