"""Families: pages on different domains that are made of the same thing."""

from typing import Any

from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.view import NotThere, View

MEMBERS = 500
DOMAINS = 100


def family(view: View, name: str) -> dict[str, Any]:
    """The family that is named after a page: its members, by domain, and how many pages each
    domain has."""
    view.require("families")
    rows = view.ask("families", "*", f"family = $name order by domain, url limit {MEMBERS + 1}",
                    name=name)
    if not rows:
        raise NotThere("No family is named after this page.")
    domains = view.database.rows(
        "select domain, count(*) from families where family = $name group by domain "
        f"order by count(*) desc, domain limit {DOMAINS + 1}", {"name": name})
    sums = view.database.rows(
        "select domains, pages, alike, least, mean, example from by_family where family = $name",
        {"name": name})[0]
    return {"family": shown(name), "members": [*map(shown, rows[:MEMBERS])],
            "more": len(rows) > MEMBERS, "by_domain": [list(map(shown, row)) for row in domains],
            **dict(zip(("domains", "pages", "alike", "least", "mean", "example"),
                       map(shown, sums), strict=True))}
