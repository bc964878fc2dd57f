"""What near-duplicates show in the report."""

from collections.abc import Iterator
from typing import Any

from beam_reuse.analyses.near_duplicates.schemas import (
    FAMILIES,
    KEEP,
    NEAR_DUPLICATE_DEGREES,
    NEAR_DUPLICATES,
    SIMILAR,
)
from beam_reuse.core.wording import counted, percent
from beam_reuse.io.results.result import Result
from beam_reuse.report.parts import Shown, parts
from beam_reuse.report.values import Axis, Card, Example, Figure, Plot, Series

_KEPT = f"""
    select count(*) filter (keep) as kept, count(*) as pages,
        count(*) filter (reason in {SIMILAR}) as similar from source"""
# Examples are first of what is certain: signatures may agree by chance, words do not.
_FOR = """
    select because_of, count(*) as pages, count(*) filter (reason = 'identity') as same,
        coalesce(min(url) filter (reason = 'identity'), min(url)) as example
    from source where not keep
    group by because_of order by {first} desc, pages desc, because_of limit 3"""
_QUERY = ("select url, because_of, reason, containment from keep where not keep "
          "order by {first} over (partition by because_of) desc, "
          "count(*) over (partition by because_of) desc, because_of, url")
_CERTAIN, _ANY = "count(*) filter (reason = 'identity')", "count(*)"
_SIMILARITIES = """
    select same_site, {value} as value, count(*) as n from source where {returned}
    group by all order by same_site, value"""
_FAMILY_COUNT = "select count(distinct family) as n from source"
_CERTAIN_DOMAINS = "count(distinct domain) filter (alike <> 'similar')"
_FAMILIES = f"""
    select family, count(*) as pages, count(distinct domain) as domains,
        {_CERTAIN_DOMAINS} as certain, min(similarity) as least
    from source group by family order by certain desc, domains desc, pages desc, family limit 3"""
_FAMILY_QUERY = (
    f"select family, {_CERTAIN_DOMAINS} as certain_domains, count(distinct domain) as domains, "
    "count(*) as pages, min(similarity) as least from families group by family "
    "order by 2 desc, 3 desc, 4 desc, family")
_DEGREES = "select algorithm, degree, pages from source order by algorithm, degree"


def near_duplicates(there: Result) -> Iterator[Shown]:
    """What to keep, families, degrees, and similarities on one site and on several."""
    return parts(there, (_keep, (KEEP,)), (_families, (FAMILIES,)),
                 (_degrees, (NEAR_DUPLICATE_DEGREES,)), (_all_similarities, (NEAR_DUPLICATES,)))


def _keep(there: Result) -> Iterator[Card]:
    (sums,) = there.query(_KEPT, KEEP, ("keep", "reason"))
    dropped = sums["pages"] - sums["kept"]
    proven = there.settings.get("min-containment") is not None
    first = _ANY if proven else _CERTAIN
    rows = there.query(_FOR.format(first=first), KEEP, ("url", "keep", "because_of", "reason"))
    answer = ("No page is nearly the same as another: keep all." if not dropped else
              f"Keep {sums['kept']:,} of {counted(sums['pages'], 'page')}: the others, "
              f"{percent(dropped / sums['pages'])}, are nearly the same as one that stays.")
    if sums["similar"] and not proven:
        answer += (f" {sums['similar']:,} of them because signatures agree; --min-containment 0.8 "
                   "drops only pages whose text is on the page that stays.")
    yield Card(4, "What should I keep?", f"{dropped:,}", "pages to drop", answer, [
        Example(row["because_of"], f"stays for {_as_pages(row)}, such as {row['example']}", "pair",
                {"a": row["because_of"], "b": row["example"]}) for row in rows],
        _QUERY.format(first=first),
        "table?name=keep&f=keep.is.false")


def _as_pages(row: dict[str, Any]) -> str:
    if row["same"] == row["pages"]:
        return f"{counted(row['pages'], 'page')} with the same words"
    of_which = f", {row['same']:,} of them with the same words" if row["same"] else ""
    return f"{counted(row['pages'], 'page')} nearly the same{of_which}"


def _all_similarities(there: Result) -> Iterator[Figure]:
    yield from _similarities(there, "b_similarity", "b", "shingles (B)",
                             "supershingles that agree")
    yield from _similarities(there, "c_similarity", "c", "random projections (C)",
                             "bits that agree")


def _families(there: Result) -> Iterator[Card]:
    (found,) = there.query(_FAMILY_COUNT, FAMILIES, ("family",))
    rows = there.query(_FAMILIES, FAMILIES, FAMILIES.names)
    answer = ("No page is made of the same thing as one of another domain." if not rows else
              f"The largest is on {counted(rows[0]['certain'] or rows[0]['domains'], 'domain')}: "
              "kits, farms and parked pages look like this, and so do mirrors.")
    yield Card(6, "Which pages on different domains are made of the same thing?",
               f"{found['n']:,}", "family" if found["n"] == 1 else "families", answer, [
                   Example(row["family"], _on_domains(row), "family", {"name": row["family"]})
                   for row in rows],
               _FAMILY_QUERY, "families")


def _on_domains(row: dict[str, Any]) -> str:
    certain = f"the same words on {row['certain']:,}, " if row["certain"] else ""
    return (f"{counted(row['pages'], 'page')} on {counted(row['domains'], 'domain')}: {certain}"
            f"similarity {percent(row['least'])} or more")


def _degrees(there: Result) -> Iterator[Figure]:
    points: dict[str, list[tuple[float, float]]] = {}
    for row in there.query(_DEGREES, NEAR_DUPLICATE_DEGREES, NEAR_DUPLICATE_DEGREES.names):
        if row["degree"]:
            points.setdefault(row["algorithm"], []).append((row["degree"], row["pages"]))
    if points:
        yield Plot("How many near-duplicates pages have",
                   "Each point: so many pages have so many near-duplicates, by each algorithm. "
                   "Pages that have none are left out.",
                   Axis("near-duplicates of a page", log=True), Axis("pages", log=True),
                   [Series(name, found) for name, found in sorted(points.items())])


def _similarities(
    there: Result, value: str, returned: str, name: str, label: str,
) -> Iterator[Figure]:
    points: dict[bool, list[tuple[float, float]]] = {}
    sql = _SIMILARITIES.format(value=value, returned=returned)
    for row in there.query(sql, NEAR_DUPLICATES, ("same_site", value, returned)):
        points.setdefault(row["same_site"], []).append((row["value"], row["n"]))
    if points:
        yield Plot(f"Similarity of pairs by {name}",
                   "Pairs that the algorithm returns, on one site and on different ones.",
                   Axis(label, from_zero=False), Axis("pairs", log=True), [
                       Series("one site" if same else "different sites", found)
                       for same, found in sorted(points.items())])
