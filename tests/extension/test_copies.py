"""A site is learnt at the first login; its copies are reported, and nothing else is."""

import time
from collections.abc import Callable

import pytest

from tests.extension.browsing import Browsing
from tests.extension.sites import (
    CHUNKS,
    COPIES,
    FORM,
    PASSAGES,
    bank,
    in_shadow,
    late,
    redesigned,
    unrelated,
    unrelated_text,
)

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("extension")]
LOGIN = "www.bank.example/login"


@pytest.fixture
def learnt(browsing: Browsing) -> Browsing:
    """The browser after somebody has logged in to the bank."""
    browsing.log_in(browsing.web.put(LOGIN, bank()))
    return browsing


def test_a_site_is_learnt_when_somebody_logs_in(browsing: Browsing) -> None:
    browsing.go(browsing.web.put(LOGIN, bank()))
    state = browsing.read()
    assert state["taken"]["chunks"] == CHUNKS
    assert (state["reply"]["learnt"], browsing.sites()) == (False, {})
    browsing.run("document.querySelector('[type=password]').dispatchEvent("
                 "new KeyboardEvent('keydown', {key: 'x', bubbles: true}))")
    browsing.run("document.querySelector('[type=password]').focus()")
    time.sleep(0.3)
    assert browsing.sites() == {}
    browsing.log_in(f"https://{LOGIN}")
    assert browsing.sites() == {"bank.example": CHUNKS}
    browsing.go("https://www.bank.example/login?again")
    assert browsing.read()["reply"]["notice"] is None and browsing.bar() is None


def test_login_pages_can_be_learnt_when_they_are_shown(browsing: Browsing) -> None:
    browsing.with_store("async (store) => store.setSettings({...store.settings, learn: 'shown'})")
    browsing.go(browsing.web.put(LOGIN, bank()))
    assert browsing.read()["reply"]["learnt"]
    browsing.go(browsing.web.put("news.example/", unrelated(1)))
    assert not browsing.read()["reply"]["learnt"]
    assert list(browsing.sites()) == ["bank.example"]


@pytest.mark.parametrize("name", COPIES)
def test_copies_are_reported(learnt: Browsing, name: str) -> None:
    copy: Callable[[str], str] = COPIES[name]
    learnt.go(learnt.web.put("evil.example/x/login.html", copy(bank())))
    bar = learnt.warned()
    assert "pieces of bank.example. It is not bank.example." in bar["text"]
    assert set(PASSAGES[1:]) <= set(bar["passages"])
    assert "https://www.bank.example/login" in bar["text"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_copies_in_frames_of_other_hosts_are_reported(learnt: Browsing, scheme: str) -> None:
    learnt.web.put("copies.example/login", bank())
    learnt.web.put("evil.example/", "<!doctype html><title>x</title><iframe width=900 height=500 "
                   f"src='{scheme}://copies.example/login'></iframe>")
    learnt.go(f"{scheme}://evil.example/")
    assert "A frame of this page, from copies.example," in learnt.warned()["text"]


def test_copies_without_encryption_or_under_a_strict_policy_are_reported(learnt: Browsing) -> None:
    learnt.web.put("evil.example/strict", bank(), strict=True)
    for scheme in ("http", "https"):
        learnt.go(f"{scheme}://evil.example/strict")
        assert learnt.warned()["passages"]
    styled = learnt.run("getComputedStyle(document.querySelector('div[popover]')).position")
    assert styled == "fixed"


def test_a_copy_on_a_neighbour_of_a_public_suffix_is_reported(learnt: Browsing) -> None:
    learnt.log_in(learnt.web.put("mine.github.io/", "<!doctype html>" + "".join(
        f"<p>{unrelated_text(at)}" for at in range(9)) + FORM))
    learnt.go(learnt.web.put("yours.github.io/", learnt.web.pages["mine.github.io/"]))
    assert "pieces of mine.github.io" in learnt.warned()["text"]


def test_the_site_itself_is_not_reported_after_a_redesign(learnt: Browsing) -> None:
    for address in (LOGIN, "online.bank.example/", "bank.example/in"):
        learnt.go(learnt.web.put(address, redesigned()) + "?new=1")
        assert learnt.read()["reply"]["notice"] is None and learnt.bar() is None
    learnt.log_in(f"https://{LOGIN}")
    assert learnt.sites()["bank.example"] > CHUNKS
    learnt.go(learnt.web.put("evil.example/new", redesigned()))
    assert len(learnt.warned()["passages"]) == 5


def test_unrelated_pages_are_not_reported(learnt: Browsing) -> None:
    """Some hundred, in frames of a page; one passage alone is no copy."""
    for at in range(240):
        extra = f"<p>{PASSAGES[at % 5]}" if at % 3 == 0 else ""
        learnt.web.put(f"many.example/page{at}", unrelated(at) + extra + FORM)
    learnt.ask_extension("""{ globalThis.seen = [];
      chrome.runtime.onConnect.addListener((port) => port.onMessage.addListener(
        (message) => { if (message.end) seen.push(port.sender.url); })); 0 }""")
    for start in range(0, 240, 60):
        frames = "".join(f"<iframe src=/page{at}></iframe>" for at in range(start, start + 60))
        learnt.go(learnt.web.put(f"many.example/{start}", f"<!doctype html>{frames}"))
        learnt.until(lambda done=start + 60: learnt.ask_extension(  # type: ignore[misc]
            "new Set(seen.filter((url) => url.includes('/page'))).size") == done)
        assert learnt.bar() is None
    learnt.go(learnt.page("options"))
    assert list(learnt.sites()) == ["bank.example"]


def test_back_forward_and_pages_of_one_document(learnt: Browsing) -> None:
    learnt.go(learnt.web.put("evil.example/", bank()))
    learnt.warned()
    learnt.go(learnt.web.put("news.example/", unrelated(3)))
    assert learnt.read()["reply"]["notice"] is None and learnt.bar() is None
    learnt.run("history.back()")
    learnt.until(lambda: learnt.address() == "https://evil.example/")
    assert learnt.warned()["passages"]
    learnt.run("history.forward()")
    learnt.until(lambda: learnt.address() == "https://news.example/")
    assert learnt.bar() is None


def test_a_view_of_one_document_is_read_when_it_changes(learnt: Browsing) -> None:
    learnt.web.put("app.example/", unrelated(4))
    learnt.go("https://app.example/")
    assert learnt.read()["reply"]["notice"] is None
    learnt.run(f"history.pushState(0, '', '/login'); document.body.innerHTML = {bank()!r}")
    assert learnt.warned()["passages"]
    learnt.run("history.back()")
    time.sleep(0.4)
    assert learnt.warned()["passages"], "a page does not take its warning back"


def test_a_password_field_that_appears_is_seen_at_once(browsing: Browsing) -> None:
    browsing.go(browsing.web.put("shop.example/", unrelated(5)))
    before = browsing.read()["readings"]
    browsing.run(f"document.body.insertAdjacentHTML('beforeend', {FORM!r})")
    start = time.monotonic()
    assert browsing.read(before + 1)
    assert time.monotonic() - start < 4
    browsing.click("input[type=password]")
    browsing.until(lambda: browsing.sites().get("shop.example"))


def test_a_worker_that_was_stopped_knows_what_was_learnt(learnt: Browsing) -> None:
    learnt.stop_worker()
    learnt.go(learnt.web.put("evil.example/", bank()))
    assert learnt.warned()["passages"] and learnt.worker_runs()
    learnt.go("about:blank")
    learnt.stop_worker()
    learnt.log_in(learnt.web.put("shop.example/", unrelated(6) + FORM))
    assert set(learnt.sites()) == {"bank.example", "shop.example"}


def test_a_worker_that_is_stopped_while_a_page_is_read(learnt: Browsing) -> None:
    long = "".join(f"<p>{unrelated_text(at)}</p>" for at in range(20_000))
    learnt.web.put("evil.example/long", late(long + bank()))
    learnt.go("https://evil.example/long")
    for _ in range(4):
        time.sleep(0.25)
        learnt.stop_worker()
    assert learnt.warned()["passages"]


def test_a_copy_that_was_there_first_is_taken_for_the_original(browsing: Browsing) -> None:
    """Poisoning, as docs/extension.md says: the first one has it, until a person decides."""
    browsing.log_in(browsing.web.put("evil.example/", bank()))
    browsing.go(browsing.web.put(LOGIN, bank()))
    assert "pieces of evil.example" in browsing.warned()["text"]
    browsing.with_store("async (store) => store.trust.forget('evil.example')")
    browsing.log_in(f"https://{LOGIN}")
    browsing.go("https://evil.example/")
    assert "pieces of bank.example" in browsing.warned()["text"]


def test_shadow_trees_are_read_where_somebody_logs_in(browsing: Browsing) -> None:
    browsing.go(browsing.web.put(LOGIN, in_shadow(bank())))
    assert browsing.read()["taken"]["chunks"] == CHUNKS
    browsing.click_node(browsing.search("input[type=password]"))
    browsing.type("xy")
    browsing.until(lambda: browsing.sites() == {"bank.example": CHUNKS})
    browsing.go(browsing.web.put("evil.example/", bank()))
    assert browsing.warned()["passages"]
