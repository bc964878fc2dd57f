"""What boilerplate says in the summary of a run."""

from collections import Counter
from collections.abc import Iterator

import pyarrow.compute as pc

from beam_reuse.analyses.boilerplate.schemas import BOILERPLATE, BOILERPLATE_PAGES
from beam_reuse.core.wording import counted, percent
from beam_reuse.io.results.result import Result

LINES_SHOWN = 3
CHARACTERS_SHOWN = 60


def boilerplate(there: Result) -> Iterator[str]:
    """How much of all pages is template, and the lines on most pages."""
    names = ("lines", "template_lines", "tokens", "template_tokens")
    total: Counter[str] = Counter(dict.fromkeys(names, 0))
    for batch in there.batches(BOILERPLATE_PAGES, names):
        total.update({name: pc.sum(batch[name]).as_py() or 0 for name in names})
    shares = (f"{percent(total[f'template_{what}'] / total[what])} of all {what}"
              for what in ("lines", "tokens") if total[what])
    yield (f"boilerplate: {counted(there.rows(BOILERPLATE), 'template line')} of hosts"
           + "".join(f", {each}" for each in shares))
    for row in there.top(BOILERPLATE, "pages", LINES_SHOWN, ("host", "text", "pages", "share")):
        yield (f"  {counted(row['pages'], 'page')} of {row['host']} ({percent(row['share'])}): "
               f"{row['text'][:CHARACTERS_SHOWN]}")
    yield ""
