"""Pages that do not want to be reported: the bar stays, or the page goes."""

import time

import pytest

from tests.extension.browsing import Browsing, quoted
from tests.extension.sites import FORM, PASSAGES, bank, unrelated_text

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("extension")]
HOST = "document.querySelector('html > div[popover]')"
# What is done once, when the bar is there: it is put up again, or was never touched.
ONCE = {
    "removed": f"{HOST}.remove()",
    "moved away": f"document.body.append({HOST})",
    "closed": f"{HOST}.hidePopover()",
    "no popover": f"{HOST}.removeAttribute('popover')",
    "inert": f"{HOST}.inert = true",
    "hidden": f"{HOST}.hidden = true",
    "styled": f"{HOST}.style.cssText = 'display: none !important; opacity: 0 !important'",
    "style sheet": """document.head.insertAdjacentHTML('beforeend', `<style>
        @layer a { * { visibility: hidden !important } }
        html > div, [popover], :popover-open { display: none !important; opacity: 0 !important;
        visibility: hidden !important; transform: translateY(-9999px) !important;
        pointer-events: none !important; clip-path: inset(100%) !important; zoom: .01 !important;
        filter: opacity(0) !important; width: 0 !important; height: 0 !important;
        inset: auto auto 9999px auto !important; z-index: -1 !important }</style>`)""",
    "body replaced": "document.documentElement.innerHTML = document.body.outerHTML",
}
# What goes on for as long as the page is there, or makes another of it: the page is taken away.
ALWAYS = {
    "removed": "setInterval(() => document.querySelector('html > div[popover]')?.remove(), 10)",
    "removed at once": """new MutationObserver(() => document.querySelectorAll(
        'html > div[popover]').forEach((bar) => bar.remove())).observe(
        document.documentElement, {childList: true});
        document.querySelector('html > div[popover]').remove()""",
    "modal dialog": """{ const dialog = document.createElement('dialog');
        document.body.append(dialog); dialog.innerHTML = '<input type=password>';
        dialog.showModal() }""",
    "covered": """{ const cover = document.createElement('div'); cover.popover = 'manual';
        cover.style.cssText = 'position:fixed;inset:0;width:100vw;height:100vh;background:white;' +
          'pointer-events:none'; document.body.append(cover);
        setInterval(() => { cover.hidePopover(); cover.showPopover() }, 100) }""",
    "covered from a closed tree": """{ const host = document.createElement('div');
        document.body.append(host); const root = host.attachShadow({mode: 'closed'});
        root.innerHTML = '<div popover=manual style="inset:0;width:100vw;height:100vh"></div>';
        const cover = root.firstChild;
        setInterval(() => { cover.hidePopover(); cover.showPopover() }, 100) }""",
    "inert": "document.documentElement.inert = true",
    "root replaced": """{ const copy = document.createElement('html');
        copy.append(...document.documentElement.childNodes);
        document.documentElement.replaceWith(copy) }""",
    "written over": "document.open(); document.write('<p>gone'); document.close()",
}


@pytest.fixture
def warned(browsing: Browsing) -> Browsing:
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    browsing.go(browsing.web.put("evil.example/login", bank()))
    browsing.warned()
    return browsing


def is_shown(browsing: Browsing) -> bool:
    """The bar's first button is drawn, and under the pointer."""
    bar = browsing.bar()
    if bar is None:
        return False
    quads = browsing._ask("DOM.getContentQuads", backendNodeId=bar["buttons"]["leave"])["quads"]
    x, y = sum(quads[0][::2]) / 4, sum(quads[0][1::2]) / 4
    return bool(0 < x < 1280 and 0 < y < 300 and browsing.run(
        f"document.elementFromPoint({x}, {y}) === {HOST} && {HOST}.matches(':popover-open') &&"
        f"{HOST}.checkVisibility({{opacityProperty: true, visibilityProperty: true}})"))


@pytest.mark.parametrize("name", ONCE)
def test_the_bar_is_put_up_again(warned: Browsing, name: str) -> None:
    warned.run(f"{ONCE[name]}; 0")
    time.sleep(0.3)
    warned.until(lambda: is_shown(warned))
    warned.press("leave")
    warned.until(lambda: warned.address() == "about:blank")


@pytest.mark.parametrize("name", ALWAYS)
def test_a_page_that_fights_the_bar_is_taken_away(warned: Browsing, name: str) -> None:
    warned.soon(ALWAYS[name])
    warned.until(lambda: warned.address().startswith(warned.page("warning")))
    warned.until(lambda: "It is not bank.example." in warned.run("document.body.innerText"))
    warned.soon("document.querySelector('[data-choice=leave]').click()")
    warned.until(lambda: warned.address() == "about:blank")


def test_a_page_that_gets_rid_of_listeners_is_taken_away(browsing: Browsing) -> None:
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    browsing.go(browsing.web.put("evil.example/", (
        "<!doctype html><script>onload = () => { document.open(); addEventListener('click', "
        f"(event) => event.stopImmediatePropagation(), true); document.write({quoted(bank())}); "
        "document.close() }</script>")))
    browsing.until(lambda: browsing.address().startswith(browsing.page("warning")))


def test_scripts_of_the_page_cannot_click(warned: Browsing) -> None:
    assert warned.run(f"{HOST}.shadowRoot") is None
    time.sleep(1.1)
    warned.run(f"""{{ const bar = {HOST};
      for (let x = 0; x < innerWidth; x += 15) for (let y = 0; y < 200; y += 10)
        for (const kind of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'])
          bar.dispatchEvent(new MouseEvent(kind, {{bubbles: true, composed: true, detail: 1,
                                                   clientX: x, clientY: y}}));
      bar.click(); bar.focus();
      bar.dispatchEvent(new KeyboardEvent('keydown', {{key: 'Enter', bubbles: true}})); }}""")
    time.sleep(0.3)
    assert is_shown(warned) and warned.address() == "https://evil.example/login"
    stored = warned.with_store("async (store) => [store.joined, store.never]")
    assert stored == [[], []]


def test_the_page_neither_sees_nor_stops_clicks_on_the_bar(browsing: Browsing) -> None:
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    browsing.go(browsing.web.put("evil.example/login", bank().replace("<nav>", (
        "<script>seen = []; for (const name of ['pointerdown', 'mousedown', 'click', 'keydown'])"
        "for (const target of [window, document]) target.addEventListener(name, (event) => {"
        "seen.push(name); event.stopImmediatePropagation(); event.preventDefault() }, true)"
        "</script><nav>"))))
    browsing.press("never")
    browsing.until(lambda: browsing.bar() is None)
    assert browsing.run("seen") == []
    assert browsing.with_store("async (store) => store.never") == ["evil.example"]


def test_a_bar_that_has_just_appeared_is_not_clicked_by_mistake(warned: Browsing) -> None:
    warned.run(f"{HOST}.remove()")
    bar = warned.warned()
    warned.click_node(bar["buttons"]["fine"])
    time.sleep(0.3)
    assert warned.bar() and warned.with_store("async (store) => store.joined") == []


def test_a_page_cannot_launder_passages_one_by_one(browsing: Browsing) -> None:
    """Frames that show one passage each, all used, take none of them from the bank."""
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    for at, text in enumerate(PASSAGES):
        browsing.log_in(browsing.web.put(
            f"evil.example/{at}", f"<!doctype html><p>{text}<p>{unrelated_text(at)}<div>{FORM}"))
    assert browsing.sites()["evil.example"] >= len(PASSAGES)
    browsing.go(browsing.web.put("evil.example/all", bank()))
    assert set(PASSAGES) <= set(browsing.warned()["passages"])


BOMBS = {
    "many chunks": "".join(f"<p>a chunk of five words {at}" for at in range(60_000)),
    "long chunks": "<p>" + "no end to this " * 200_000 + "<p>" + "x" * 3_000_000,
    "deep": "<div>" * 50_000 + "five words or more here",
    "many fields": "<input type=password>" * 20_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_read_in_bounds(browsing: Browsing, name: str) -> None:
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    browsing.go(browsing.web.put("bomb.example/", "<!doctype html>" + bank() + BOMBS[name]))
    assert browsing.warned()["passages"]
    taken = browsing.read()["taken"]
    assert taken["chunks"] <= 50_000


def test_a_page_that_takes_away_what_is_being_read_is_read_in_one_go(browsing: Browsing) -> None:
    """What comes before the copy is always new: no walk that pauses gets past it."""
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    decoys = "".join(f"<p>{unrelated_text(at)}</p>" for at in range(1500))
    browsing.go(browsing.web.put("evil.example/", (
        f"<!doctype html><div id=d>{decoys}</div>{bank()}<script>setInterval(() => "
        "d.replaceWith(d.cloneNode(true)), 25)</script>")))
    assert browsing.warned()["passages"]


def test_a_flood_of_sites_leaves_those_that_are_used(browsing: Browsing) -> None:
    browsing.with_store("""async (store) => {
      const today = Math.floor(Date.now() / 86400000);
      const site = (domain, days) => [domain, { domain, days, seen: today, chunks: new Map(
        Array.from({ length: 3 }, (_, at) => [(domain + at).padStart(40, "0").replace(
          /[^0-9a-f]/g, "0"), { page: "https://" + domain + "/", seen: today, first: 1 }])) }];
      await store.commit(new Map(Array.from({ length: 999 }, (_, at) => site(`s${at}.example`, 1))))
      await store.commit(new Map([site("old.example", 9)])); }""")
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    sites = browsing.sites()
    assert len(sites) == 1000 and "old.example" in sites and "bank.example" in sites
