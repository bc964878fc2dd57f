"""What decontamination is. No Beam."""

from beam_reuse.analyses.decontaminate.settings import DecontaminateSettings
from beam_reuse.declaring.about import About
from beam_reuse.declaring.kinds import FILES, NAME, SHARE, WHOLE, WORDS, optional
from beam_reuse.declaring.option import option

COMMAND = "decontaminate"

DECONTAMINATE = About(
    name="decontaminate",
    settings=DecontaminateSettings,
    transform="beam_reuse.analyses.decontaminate.find:FindContamination",
    tables="beam_reuse.analyses.decontaminate.schemas:TABLES",
    findings="beam_reuse.analyses.decontaminate.findings:findings",
    report="beam_reuse.analyses.decontaminate.report:report",
    question="which pages hold items of evaluation sets",
    help="""\
  contamination         each item and page that have a gram in common: how much, and where
  contaminated_pages, contaminated_items   one side of it
  evaluations, eval_rejects   what became of the rows of evaluation files""",
    command=COMMAND,
    options=(
        option("against", FILES,
               "evaluation files: JSON Lines (.gz, .zst) or Parquet; files, folders or globs",
               commands=f"{COMMAND} clean"),
        option("eval-id", optional(NAME),
               "the field that has the id of a row (default: a usual name such as id, qid or "
               "task_id; else the number of the row)", "id", commands=f"{COMMAND} clean labels"),
        option("eval-fields", WORDS,
               "the fields that have texts, such as question,choices.text (default: usual names "
               "such as question, context, answer; else all that are text)", "fields",
               commands=f"{COMMAND} clean labels"),
        option("gram-size", WHOLE,
               "tokens of a gram; a shorter text is one gram, if it has 8 tokens or more",
               commands=COMMAND),
        option("min-share", SHARE,
               "a page is contaminated if it has this share of an item's grams, or more",
               commands=f"{COMMAND} clean check"),
        option("max-items-per-gram", WHOLE,
               "grams that more items have are prompts, and do not count",
               commands=f"{COMMAND} clean labels"),
    ),
)
