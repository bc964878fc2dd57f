"""Trust on first use: the rules of docs/edge.md, and vectors for every implementation."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beam_reuse import Detector
from beam_reuse.core.errors import UserError
from beam_reuse.core.finding import Finding, SourceDomain
from beam_reuse.core.first_use import FirstUseSettings
from beam_reuse.core.settings import StopSettings
from beam_reuse.detector.cutting import Cutter
from beam_reuse.detector.first_use import CUT, FirstUse
from tests.core.test_text_chunks import SOUND
from tests.oracles import first_use as oracle

VECTORS = Path(__file__).parent / "vectors" / "first_use.json"


def sequences() -> list[dict[str, Any]]:
    return json.loads(VECTORS.read_text())["sequences"]  # type: ignore[no-any-return]


class Store:
    """The detector's store, with the methods of the definition."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self.detector = FirstUse(path, FirstUseSettings(**settings))

    def visit(self, url: str, html: str, day: int) -> dict[str, Any]:
        return plain(self.detector.check(html, url, day=day))

    def trust(self, url: str, html: str, day: int) -> dict[str, Any]:
        return plain(self.detector.trust(html, url, day=day))

    def join(self, domains: list[str]) -> None:
        self.detector.join(domains)

    def forget(self, domain: str) -> None:
        self.detector.forget(domain)

    def listed(self) -> list[dict[str, Any]]:
        return [{"domain": site.domain, "days": site.days, "seen": site.seen,
                 "owner": list(site.owner), "chunks": [
                     list(row) for row in self.detector.store.chunks(site.domain)]}
                for site in self.detector.sites()]


def plain(finding: Finding) -> dict[str, Any]:
    assert finding.first_use is not None
    answer = finding.first_use.as_json()
    return {**answer, "passages": list(answer["passages"])}


def settings_of(sequence: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value
            for name, value in sequence["settings"].items()}


@pytest.mark.parametrize("sequence", sequences(), ids=lambda sequence: sequence["name"])
def test_the_definition_gives_the_vectors(sequence: dict[str, Any]) -> None:
    store = oracle.FirstUse(oracle.Rules(**settings_of(sequence)))
    for step in sequence["steps"]:
        assert done(store, step) == step.get("expect")


@pytest.mark.parametrize("sequence", sequences(), ids=lambda sequence: sequence["name"])
def test_the_detector_gives_the_vectors(sequence: dict[str, Any], tmp_path: Path) -> None:
    for step in sequence["steps"]:  # opened anew for each: everything is in the file
        store = Store(tmp_path / "store", **settings_of(sequence))
        assert done(store, step) == step.get("expect")
        store.detector.close()
    assert os.listdir(tmp_path) == ["store"]


def done(store: Any, step: dict[str, Any]) -> Any:
    """What a store says to a step of a sequence."""
    if step["do"] in ("visit", "trust"):
        return getattr(store, step["do"])(step["url"], step["html"], step["day"])
    if step["do"] == "join":
        return store.join(step["domains"])
    if step["do"] == "forget":
        return store.forget(step["domain"])
    return store.listed()


PHRASES = [f"Passage number {number} has words enough to count." for number in range(8)]
GENERIC = "Here is a list of all modules:"
DOMAINS = ["a.example", "b.example", "c.example", "d.co.uk", "localhost"]
URLS = st.builds("{}://{}{}{}".format, st.sampled_from(["http", "https"]), st.sampled_from(
    [*DOMAINS, "www.a.example", "b.example:8080"]), st.sampled_from(["/", "/in", "/in?x=1"]),
    st.just("")) | st.sampled_from(["", "file:///a", "none"])
HTML = st.builds(
    lambda texts, form, block: "".join(f"<{block}>{text}</{block}>" for text in texts) + form,
    st.lists(st.sampled_from([*PHRASES, "Too short.", GENERIC]), max_size=5),
    st.sampled_from(["<input type=password>"] * 3 + [""]), st.sampled_from(["p", "div"]))
DAYS = st.integers(0, 12)
STEPS = st.lists(st.one_of(
    st.builds(lambda url, html, day: {"do": "visit", "url": url, "html": html, "day": day},
              URLS, HTML, DAYS),
    st.builds(lambda url, html, day: {"do": "trust", "url": url, "html": html, "day": day},
              st.sampled_from([f"http://{domain}/" for domain in DOMAINS]), HTML, DAYS),
    st.builds(lambda domains: {"do": "join", "domains": domains},
              st.lists(st.sampled_from(DOMAINS), min_size=1, max_size=3)),
    st.builds(lambda domain: {"do": "forget", "domain": domain}, st.sampled_from(DOMAINS)),
), min_size=5, max_size=30)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture],
          deadline=None)
@given(steps=STEPS, min_evidence=st.integers(1, 3), settle_days=st.integers(1, 3),
       max_age=st.sampled_from([0, 3, 365]), max_sites=st.sampled_from([1, 2, 1000]),
       max_site_chunks=st.sampled_from([1, 2, 4, 1000]),
       learn_pages=st.sampled_from([(), ("*/in",), ("http://a*", "none")]))
def test_the_detector_is_the_definition(steps: list[dict[str, Any]], **rules: Any) -> None:
    slow = oracle.FirstUse(oracle.Rules(**rules))
    with TemporaryDirectory() as folder:
        quick = Store(Path(folder, "store"), **rules)
        for step in steps:
            assert done(quick, step) == done(slow, step), step
            assert quick.listed() == slow.listed(), step
        quick.detector.close()


@settings(max_examples=300)
@given(SOUND)
def test_login_pages_are_those_of_the_definition(html: str) -> None:
    html = html.replace("<input", "<input type=password").replace("class=a", "type=Password")
    counted = Cutter(CUT, StopSettings()).count(html, "html", "")
    assert counted.has_password == oracle.has_password(html)


def test_a_finding_has_the_matches_of_others_and_its_own(tmp_path: Path) -> None:
    detector = Detector(tmp_path / "store", trust="first-use")
    page = "".join(f"<p>{text}</p>" for text in PHRASES[:3]) + "<input type=password>"
    assert detector.check(page, "https://bank.example/login").first_use.learnt
    own = detector.check(page, "https://bank.example/other")
    assert (own.matching, own.own_matching, own.flagged) == (0, 3, False)
    copy = detector.check(f"{page}<p>{PHRASES[0]}</p><p>{PHRASES[7]}</p>", "http://evil.example/")
    assert (copy.chunks, copy.matching, copy.distinct_matching, copy.contains) == (5, 4, 3, 0.8)
    assert copy.flagged and copy.sources == (SourceDomain("bank.example", 3),)
    assert {match.source_url for match in copy.matches} == {"https://bank.example/login"}
    assert [match.position for match in copy.matches] == [0, 1, 2, 3]
    assert json.loads(json.dumps(copy.as_json()))["first_use"]["domain"] == "bank.example"


def test_a_plain_text_holds_passages_of_a_page(tmp_path: Path) -> None:
    detector = Detector(tmp_path / "store", trust="first-use")
    detector.check("<p>" + "<p>".join(PHRASES[:2]) + "<input type=password>", "http://bank.example")
    mail = detector.check("\n\n".join(PHRASES[:2]), "", kind="text")
    assert mail.flagged and mail.first_use.domain == "bank.example"


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="min_evidence"):
        FirstUseSettings(min_evidence=0)
    with pytest.raises(UserError, match="page_threshold"):
        Detector(tmp_path / "store", trust="first-use", page_threshold=0.5)
    with pytest.raises(UserError, match="trust"):
        Detector(tmp_path / "store", trust="always")
    with pytest.raises(UserError, match="one store"):
        Detector([tmp_path / "a", tmp_path / "b"], trust="first-use")
    detector = Detector(tmp_path / "store", trust="first-use")
    with pytest.raises(UserError, match="no http"):
        detector.learn("<p>", "file:///a")
    with pytest.raises(UserError, match="by itself"):
        detector.save(tmp_path / "list.brl")
    with pytest.raises(UserError, match="no domain"):
        detector.first_use.join(["a b"])
    with pytest.raises(UserError, match="first-use"):
        Detector(()).first_use.sites()


@given(st.text("ab*", max_size=8), st.text("ab", max_size=12))
def test_patterns_are_those_of_the_definition(pattern: str, url: str) -> None:
    learns = FirstUseSettings(learn_pages=("never", pattern)).learns(url)
    assert learns is oracle.fits(pattern, url)


def test_an_address_cannot_keep_a_pattern_busy() -> None:
    """A search that tries all ways takes days for this one."""
    address = "http://a.example/" + "login/start" * 100_000
    assert not FirstUseSettings(learn_pages=("*login*start*login*start*x",)).learns(address)


def test_a_page_with_many_passages_of_others_behind_its_own(tmp_path: Path) -> None:
    """Passages are found by their place, not by a search from the beginning for each: that takes
    minutes here."""
    detector = FirstUse(tmp_path / "store", FirstUseSettings(max_site_chunks=20_000))
    passages = [f"<p>Passage number {number} of the bank." for number in range(20_000)]
    detector.check("".join(passages) + "<input type=password>", "https://bank.example/", day=1)
    own = "".join(f"<p>Passage number {number} of somebody else's." for number in range(200_000))
    found = detector.check(own + "".join(passages), "https://evil.example/", day=1).first_use
    assert found is not None and found.evidence == 20_000
    assert [found.passages[at].text for at in (0, -1)] == [
        passages[at].removeprefix("<p>") for at in (0, -1)]
