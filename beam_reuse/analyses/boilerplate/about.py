"""What boilerplate is. No Beam."""

from collections.abc import Collection

from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.declaring.about import About, Values
from beam_reuse.declaring.kinds import SHARE, WHOLE
from beam_reuse.declaring.option import FLAG, option

IGNORING = ("near-duplicates", "overlap", "quilts")


def idle(given: Collection[str], values: Values) -> str:
    """Why an option does nothing: nobody looks at template lines."""
    asked = values.get("analyses", ("boilerplate", *IGNORING))
    ignored = bool(values.get("ignore-boilerplate"))
    if ignored and "ignore-boilerplate" in given and not {*IGNORING} & {*asked}:
        return (f"--ignore-boilerplate does nothing with --analyses {','.join(asked)}: it is for "
                f"{', '.join(IGNORING)}. Ask for one of these with --analyses, or leave it out.")
    for name in ("boilerplate-pages", "boilerplate-share"):
        if name in given and not ignored and not {"boilerplate", "overlap"} & {*asked}:
            ignoring = ", or --ignore-boilerplate" if {*IGNORING} & {*asked} else ""
            return (f"--{name} does nothing with --analyses {','.join(asked)}. Add boilerplate to "
                    f"these{ignoring}, or leave it out.")
    return ""


BOILERPLATE = About(
    name="boilerplate",
    settings=BoilerplateSettings,
    transform="beam_reuse.analyses.boilerplate.find:FindBoilerplate",
    tables="beam_reuse.analyses.boilerplate.schemas:TABLES",
    findings="beam_reuse.analyses.boilerplate.findings:boilerplate",
    report="beam_reuse.analyses.boilerplate.report:boilerplate",
    question="which lines are the template of their host",
    help="""\
  boilerplate           menus, footers, notices: lines of a host's template, on how many pages
  boilerplate_pages     each page: how many of its lines and tokens are its host's template""",
    options=(
        option("boilerplate-pages", WHOLE,
               "a line is its host's template if it is on so many of the host's pages or more",
               "min_pages"),
        option("boilerplate-share", SHARE,
               "and on at least this share of those of the host's pages that have lines",
               "min_share"),
        option("ignore-boilerplate", FLAG,
               "near-duplicates, overlap and quilts see pages without the template lines of their "
               "hosts; `pages` still counts all", "ignore"),
    ),
    needed_by=IGNORING,
    idle=idle,
)
