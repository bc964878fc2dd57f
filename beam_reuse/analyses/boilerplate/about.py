"""What boilerplate is. No Beam."""

from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.declaring.about import About
from beam_reuse.declaring.kinds import SHARE, WHOLE
from beam_reuse.declaring.option import option

BOILERPLATE = About(
    name="boilerplate",
    settings=BoilerplateSettings,
    transform="beam_reuse.analyses.boilerplate.find:FindBoilerplate",
    tables="beam_reuse.analyses.boilerplate.schemas:TABLES",
    findings="beam_reuse.analyses.boilerplate.findings:boilerplate",
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
    ),
)
