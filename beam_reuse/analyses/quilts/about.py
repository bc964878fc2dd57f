"""What quilts are. No Beam."""

from collections.abc import Collection

from beam_reuse.analyses.quilts.settings import SWEEPS, SWEPT, VARIANTS, QuiltSettings
from beam_reuse.declaring.about import About, Values
from beam_reuse.declaring.kinds import FILES, NUMBERS, SHARE, SHARES, OptionKind, choice
from beam_reuse.declaring.option import FLAG, option

COPY_SHARE = OptionKind("X", "a number from 0.5 to 1, or 1.01", float)


def idle(given: Collection[str], values: Values) -> str:
    """Why an option of sweeps does nothing: without a list there is no sweep."""
    swept = [name.replace("_", "-") for name in SWEPT]
    if any(len(values.get(name, ())) > 1 for name in swept):
        return ""
    for name in ("sweep", "sweep-sources"):
        if name in given:
            return (f"--{name} does nothing without a list. Give several numbers to one of "
                    f"{', '.join(f'--{each}' for each in swept)}, such as "
                    "--gram-size 5,4,7, or leave it out.")
    return ""


QUILTS = About(
    name="quilts",
    settings=QuiltSettings,
    transform="beam_reuse.analyses.quilts.find:FindQuilts",
    tables="beam_reuse.analyses.quilts.schemas:TABLES",
    findings="beam_reuse.analyses.quilts.findings:quilts",
    report="beam_reuse.analyses.quilts.report:quilts",
    question="pages stitched from passages of others",
    help="""\
  quilts                each quilt: how much of it is patches, from how many sources, linked or not
  quilt_sources         each source: what it gave, and where that is in the quilt""",
    options=(
        option("gram-size", NUMBERS,
               "tokens of a gram, the smallest patch that counts; this and the next three take "
               "lists, whose first number is the pivot of a sweep"),
        option("max-pages-per-gram", NUMBERS,
               "grams on more pages than this are phrases or boilerplate, not patches; cost grows "
               "with it"),
        option("min-sources", NUMBERS,
               "a quilt takes from so many pages or more; near-copies of one page take from few"),
        option("min-patch-fraction", SHARES,
               "and at least this share of its grams occurs on other pages, too"),
        option("sweep", choice(*SWEEPS),
               "with lists: vary one number at a time from the pivot, or combine all with all; one "
               "run shares the work"),
        option("sweep-sources", FLAG,
               "write quilt_sources for every combination, not for the pivot alone"),
        option("quilt-sources", choice(*VARIANTS),
               "which pages may be sources: any other page, those of another registered domain, or "
               "of another domain and IP address", "variant"),
        option("ip-table", FILES,
               "with --quilt-sources ip: addresses of hosts whose records have none; text with a "
               "host and an address per line, or Parquet with the columns host and ip",
               "ip_tables"),
        option("min-source-share", SHARE,
               "sources that add a smaller share of the patch grams do not count, they are chance; "
               "0: all count, as in the paper"),
        option("quilt-copy", COPY_SHARE,
               "pages with this share of a page's grams are its copies, no sources, and what only "
               "they share with it is no patch; 1.01: there are none"),
    ),
    counts={
        "grams-on-too-many-pages":
            "runs of words on more than --max-pages-per-gram pages, phrases and menus, are no "
            "patches of quilts",
        "pages-shorter-than-a-gram": "pages with fewer words than --gram-size are no quilts",
    },
    idle=idle,
)
