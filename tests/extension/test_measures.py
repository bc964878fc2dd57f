"""What the extension takes, and what it gives away: milliseconds, and no request."""

import json
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from extension.build import manifest
from tests.extension.browsing import Browsing
from tests.extension.sites import bank, unrelated_text

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("extension")]
VECTORS = Path(__file__).parents[1] / "vectors" / "first_use.json"
ATTEMPTS = 10
# Hosts that Chromium asks by itself, with and without an extension.
_OF_CHROMIUM = (".googleapis.com", ".google.com", ".gstatic.com", ".gvt1.com")


def big(megabytes: int) -> str:
    """A page of many megabytes: long and short paragraphs, lists, tables, elements in elements."""
    pieces, size, at = ["<!doctype html><title>Big</title>"], 0, 0
    while size < megabytes * 1_000_000:
        text = unrelated_text(at)
        pieces.append(f"<div class=a{at}><p>{text} <b>{at}</b> <a href=/{at}>{text}</a></p>"
                      f"<ul><li>{at}<li><span>{text}</span></ul></div>")
        size += len(pieces[-1])
        at += 1
    return "".join(pieces)


def test_five_megabytes_are_read_in_slices(browsing: Browsing) -> None:
    """The page is quiet but for a password field, which has it read once more, at once. Where other
    programs take the processor in the middle of a slice the field is taken away and comes again.
    What is printed are milliseconds; the browser itself reports tasks of 50 or more as long."""
    browsing.go(browsing.web.put("big.example/", big(5)))
    state = browsing.read()
    assert state["taken"]["whole"] and state["taken"]["chunks"] > 5_000
    browsing.run("""long = []; new PerformanceObserver((list) => long.push(
      ...list.getEntries().map((entry) => entry.duration))).observe({type: "longtask"})""")
    for _ in range(ATTEMPTS):
        before = browsing.read()["readings"]
        browsing.run("""long.length = 0; document.querySelector("input")?.remove();
          setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<input type=password>"),
                     300); 0""")
        taken = browsing.read(before + 1)["taken"]
        time.sleep(0.1)
        print(f"5 MB: {taken['chunks']} chunks, {taken['all']:.0f} ms in slices of at most "
              f"{taken['longest']:.0f} ms; long tasks: {browsing.run('long')}")
        if taken["longest"] < taken["all"] / 8:
            return
    raise AssertionError("every time a slice was an eighth of all or more")


MILLION = """async (store) => {
  const random = () => Math.floor(Math.random() * 2 ** 32).toString(16).padStart(8, "0");
  const hash = () => random().padEnd(40, "a5");
  const day = Math.floor(Date.now() / 86400000);
  const sites = new Map(Array.from({ length: 999 }, (_, at) => [`s${at}.example`, {
    domain: `s${at}.example`, days: 1 + at % 5, seen: day, chunks: new Map(Array.from(
      { length: 1000 }, () => [hash(), { page: "https://s.example/", seen: day, first: at }])) }]));
  await store.commit(sites);
  return store.index.size; }"""
# A page of 200 chunks, and the same with twenty of a site: the median, with the lock and a
# look at whether the store was changed; and of the first after the store was opened.
LOOKUPS = """(async () => {
  const { Store, withStore } = await import("/core/store.js");
  const { sha1 } = await import("/core/sha1.js");
  const texts = (start) => new Map(Array.from({ length: 200 }, (_, at) => {
    const text = `passage ${start} number ${at}`; return [sha1(text), text]; }));
  const day = Math.floor(Date.now() / 86400000);
  const site = await withStore((store) => store.site("s7.example"));
  const known = [...site.chunks.keys()];
  const page = (chunks) => ({ url: "https://x.example/", domain: "x.example", chunks, day,
                              password: false });
  const timed = async (pages) => {
    const times = [];
    let flagged = 0;
    for (const one of pages) {
      const start = performance.now();
      flagged += (await withStore((store) => store.trust.answer(one))).flagged;
      times.push(performance.now() - start);
    }
    return [times.sort((a, b) => a - b)[times.length / 2], flagged];
  };
  const strangers = Array.from({ length: 50 }, (_, at) => page(texts(at)));
  const copies = Array.from({ length: 50 }, (_, at) => page(new Map([...texts(at),
    ...known.slice(10 * at, 10 * at + 20).map((hash) => [hash, "x"])])));
  const start = performance.now();
  const opened = await Store.open("beam-reuse");
  await opened.refresh();
  await opened.trust.answer(page(texts(1)));
  return { first: performance.now() - start, strangers: await timed(strangers),
           copies: await timed(copies) };
})()"""


def test_lookups_in_a_million_chunks(browsing: Browsing) -> None:
    assert 998_900 < browsing.with_store(MILLION) <= 999_000  # some are drawn twice
    took = browsing.ask_extension(LOOKUPS)
    print(f"a page of 200 chunks in a store of a million: {took['strangers'][0]:.2f} ms, a copy "
          f"{took['copies'][0]:.2f} ms; the first after opening {took['first']:.0f} ms")
    assert took["strangers"][1] == 0 and took["copies"][1] == 50
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    browsing.stop_worker()
    browsing.go(browsing.web.put("evil.example/", bank()))
    assert browsing.warned()["passages"]


REPLAY = """async (sequence) => {
  const { Store } = await import("/core/store.js");
  const { FirstUse } = await import("/core/first_use.js");
  const { addChunks } = await import("/core/chunks.js");
  const { canonicalUrl, domainOfPage } = await import("/core/domains.js");
  const { textChunks } = await import("/core/text_chunks.js");
  const { listed } = await import("/core/shelf.js");
  const name = `test-${Math.random()}`;
  const store = await Store.open(name);
  await store.refresh();
  const settings = Object.fromEntries(Object.entries(sequence.settings).map(([key, value]) => [
    key.replace(/_(.)/g, (_, letter) => letter.toUpperCase()), value]));
  const trust = new FirstUse(store, settings);
  const answers = [];
  for (const { do: act, url, html, day, domains, domain } of sequence.steps) {
    if (act === "join") answers.push(await trust.join(domains) ?? null);
    if (act === "forget") answers.push(await trust.forget(domain) ?? null);
    if (act === "sites") {
      const sites = await Promise.all((await store.heads()).map((head) => store.site(head.domain)));
      answers.push(sites.map((site) => listed(site, store.joined)).sort(
        (a, b) => a.domain < b.domain ? -1 : 1));
    }
    if (act !== "visit" && act !== "trust") continue;
    const parsed = new DOMParser().parseFromString(html, "text/html");
    const chunks = new Map();
    addChunks(chunks, textChunks(parsed.documentElement));
    answers.push(await trust[act]({
      url: canonicalUrl(url) || url, domain: domainOfPage(url), day,
      password: parsed.querySelector("input[type=password]") !== null, chunks }));
  }
  store.database.close();
  indexedDB.deleteDatabase(name);
  return answers;
}"""


def test_vectors_in_the_browser(browsing: Browsing) -> None:
    """Pages are parsed by Chromium, and stored in its database."""
    for sequence in json.loads(VECTORS.read_text())["sequences"]:
        answers = browsing.ask_extension(f"({REPLAY})({json.dumps(sequence)})")
        assert answers == [step.get("expect") for step in sequence["steps"]], sequence["name"]


def test_nothing_leaves_the_machine(browsing: Browsing) -> None:
    """Every host is the test's server, so that every request is seen."""
    browsing.web.asked.clear()
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    browsing.go(browsing.web.put("evil.example/", bank()))
    browsing.warned()
    browsing.press("fine")
    browsing.until(lambda: browsing.bar() is None)
    browsing.go(browsing.page("options"))
    time.sleep(0.3)
    asked = {address for address in browsing.web.asked
             if not urlsplit(address).netloc.endswith(_OF_CHROMIUM)}
    assert asked <= {f"https://{host}/{path}" for host, paths in {
        "www.bank.example": ("login", "style.css", "favicon.ico"),
        "evil.example": ("", "style.css", "favicon.ico")}.items() for path in paths}
    refused = browsing.ask_extension("""Promise.all([
      fetch("https://evil.example/").then(() => "sent", (error) => "refused"),
      new Promise((resolve) => { const image = new Image(); image.onload = () => resolve("sent");
        image.onerror = () => resolve("refused"); image.src = "https://evil.example/x"; })])""")
    assert refused == ["refused", "refused"]
    assert "https://evil.example/x" not in browsing.web.asked


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_permissions_are_the_fewest(browser: str) -> None:
    held = manifest(browser)
    assert not {"permissions", "host_permissions", "optional_permissions",
                "optional_host_permissions", "web_accessible_resources",
                "externally_connectable"} & set(held)
    policy = held["content_security_policy"]["extension_pages"]
    assert policy.startswith("default-src 'none'; script-src 'self'") and "connect" not in policy
