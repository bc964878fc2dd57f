"""What a person does: the bar and its choices, fields that wait, the popup and the options."""

import base64
import time
from pathlib import Path
from typing import Any

import pytest

from beam_reuse.detector import Detector
from beam_reuse.io.labels.lists import read_list
from beam_reuse.io.labels.writing import write_labels
from tests.browser.accessibility import axe_script, barriers
from tests.core.test_text_chunks import cut, hashes_of
from tests.extension.browsing import Browsing
from tests.extension.sites import CHUNKS, FORM, PASSAGES, bank, unrelated

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("extension")]
SECRET = "document.querySelector('[type=password]').value"
FOCUS = "document.querySelector('[type=password]').focus()"


@pytest.fixture
def warned(browsing: Browsing) -> Browsing:
    """The browser at a copy of a bank that it knows."""
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    browsing.go(browsing.web.put("news.example/", unrelated(1)))
    browsing.go(browsing.web.put("evil.example/login", bank()))
    browsing.warned()
    return browsing


def test_leaving(warned: Browsing) -> None:
    warned.run("addEventListener('beforeunload', (event) => event.preventDefault())")
    warned.press("leave")
    warned.until(lambda: warned.address() == "about:blank")


def test_a_domain_that_belongs_to_the_owner(warned: Browsing) -> None:
    warned.press("fine")
    warned.until(lambda: warned.bar() is None)
    warned.go("https://evil.example/login")
    assert warned.read()["reply"]["notice"] is None
    assert warned.with_store("async (store) => store.joined") == [["bank.example", "evil.example"]]
    session = warned.open(warned.page("options"))
    shows(warned, session, "evil.example")
    warned.inside(session, "document.querySelector("
                  "'#joined [aria-label$=\"evil.example\"]').click()")
    shows(warned, session, "evil.example is forgotten.")
    warned.go("https://evil.example/login")
    assert "pieces of bank.example" in warned.warned()["text"]


def test_a_domain_without_warnings(warned: Browsing) -> None:
    warned.press("never")
    warned.until(lambda: warned.bar() is None)
    warned.stop_worker()
    warned.go("https://evil.example/login")
    assert warned.read()["reply"]["never"] and warned.bar() is None
    warned.go(warned.web.put("worse.example/", bank()))
    assert warned.warned()


def test_a_decision_is_about_one_domain(warned: Browsing) -> None:
    """What was said of one frame does not silence another."""
    for host in ("first.example", "second.example"):
        warned.web.put(f"{host}/", bank())
    warned.go(warned.web.put("frames.example/", (
        "<!doctype html><title>x</title><iframe src=https://first.example/></iframe>")))
    assert "from first.example" in warned.warned()["text"]
    warned.press("never")
    warned.until(lambda: warned.bar() is None)
    warned.run("document.body.insertAdjacentHTML('beforeend', "
               "'<iframe src=https://second.example/></iframe>')")
    assert "from second.example" in warned.warned()["text"]


def test_copies_in_two_frames_are_decided_about_one_after_the_other(warned: Browsing) -> None:
    hosts = ("first.example", "second.example")
    for host in hosts:
        warned.web.put(f"{host}/", bank())
    warned.go(warned.web.put("frames.example/", "<!doctype html><title>x</title>" + "".join(
        f"<iframe src=https://{host}/></iframe>" for host in hosts)))
    (first,) = (host for host in hosts if f"from {host}" in warned.warned()["text"])
    (second,) = {*hosts} - {first}
    warned.press("never")
    warned.until(lambda: f"from {second}" in warned.warned()["text"])


def test_a_page_of_two_owners_pieces_is_decided_about_twice(warned: Browsing) -> None:
    shop = unrelated(7, passages=3) + FORM
    warned.log_in(warned.web.put("shop.example/", shop))
    warned.go(warned.web.put("evil.example/both", bank() + shop))
    assert "pieces of bank.example" in warned.warned()["text"]
    warned.press("fine")
    warned.until(lambda: "pieces of shop.example" in warned.warned()["text"])
    warned.press("fine")
    warned.until(lambda: warned.bar() is None)
    assert warned.with_store("async (store) => store.joined") == [
        ["bank.example", "evil.example", "shop.example"]]


FRAMED = ("<!doctype html><title>x</title><iframe id=f src=https://form.example/empty "
          "style='position:absolute;left:0;top:400px;width:600px;height:200px'></iframe>")


def test_fields_of_a_frame_that_comes_later_wait_too(warned: Browsing) -> None:
    """A page leads a frame of it to a form without passages when the bar is there."""
    warned.web.put("form.example/empty", "<!doctype html>")
    warned.web.put("form.example/", "<!doctype html><body style='margin:0'><input type=password "
                   "style='width:300px;height:100px' oninput='top.postMessage(this.value, \"*\")'>")
    for address, html, letters in (("news.example/framed", FRAMED, ["s", "se", "sec"]),
                                   ("evil.example/framed", FRAMED + bank(), [])):
        warned.go(warned.web.put(address, html))
        warned.read()
        time.sleep(2)  # until nothing of it is read again
        assert bool(warned.bar()) is not bool(letters)
        warned.run("got = []; onmessage = ({ data }) => got.push(data); "
                   "f.contentWindow.location = 'https://form.example/'; 0")
        time.sleep(2)
        type_into_frame(warned)
        time.sleep(0.5)
        assert warned.run("got") == letters


def type_into_frame(browsing: Browsing) -> None:
    browsing.click_at(100, 450)
    browsing.type("sec")


def test_fields_wait_until_the_user_has_decided(warned: Browsing) -> None:
    warned.run("seen = []; for (const name of ['keydown', 'input', 'beforeinput', 'paste'])"
               "addEventListener(name, (event) => seen.push(event.type), true)")
    warned.run(FOCUS)
    warned.type("secret")
    warned.key("Enter", 13, "\r")
    assert (warned.run(SECRET), warned.run("seen"), warned.address()) == (
        "", [], "https://evil.example/login")
    warned.press("never")
    warned.until(lambda: warned.bar() is None)
    warned.run(FOCUS)
    warned.type("secret")
    assert warned.run(SECRET) == "secret" and "keydown" in warned.run("seen")


def test_fields_need_not_wait(browsing: Browsing) -> None:
    browsing.with_store("async (store) => store.setSettings({...store.settings, wait: false})")
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    browsing.go(browsing.web.put("evil.example/login", bank()))
    assert "switched off" not in browsing.warned()["text"]
    browsing.run(FOCUS)
    browsing.type("secret")
    assert browsing.run(SECRET) == "secret"


def test_the_bar_by_keyboard_and_for_those_who_do_not_see_it(warned: Browsing) -> None:
    tree = warned._ask("Accessibility.getFullAXTree")["nodes"]
    roles = {node["role"]["value"]: node for node in tree if "role" in node}
    dialog = roles["alertdialog"]
    assert dialog["name"]["value"].startswith("This page is made of pieces of bank.example")
    assert "evil.example" in dialog["description"]["value"]
    names = [node["name"]["value"] for node in tree
             if node.get("role", {}).get("value") == "button"]
    assert {"Leave this page", "Never warn on evil.example"} <= set(names)
    warned.until(lambda: not any(
        prop["name"] == "disabled" for node in warned._ask("Accessibility.getFullAXTree")["nodes"]
        if node.get("name", {}).get("value") == "Leave this page" for prop in node["properties"]
        if prop["value"]["value"]))
    warned.key("Tab", 9)
    warned.key("Enter", 13, "\r")
    warned.until(lambda: warned.address() == "about:blank")


def popup(browsing: Browsing) -> str:
    """The popup of the toolbar's button, for the page in front."""
    tab = browsing.ask_extension("""chrome.tabs.query({}).then((tabs) => Promise.all(tabs.map(
      (tab) => chrome.tabs.sendMessage(tab.id, {kind: 'state'}).then(() => tab.id, () => 0))))
      .then((tabs) => tabs.find((tab) => tab))""")
    return browsing.open(f"{browsing.page('popup')}?tab={tab}")


def shows(browsing: Browsing, session: str, text: str) -> None:
    browsing.until(lambda: text in browsing.inside(session, "document.body.innerText"))


def test_a_site_is_added_by_hand(browsing: Browsing) -> None:
    browsing.go(browsing.web.put("club.example/members", unrelated(2)))
    browsing.read()
    session = popup(browsing)
    shows(browsing, session, "has not been learnt")
    browsing.inside(session, "document.getElementById('add').click()")
    shows(browsing, session, "This site has been learnt: 20 passages.")
    browsing.go(browsing.web.put("evil.example/", unrelated(2)))
    assert "pieces of club.example" in browsing.warned()["text"]
    session = popup(browsing)
    shows(browsing, session, "pieces of club.example")
    assert browsing.inside(session, "document.getElementById('add').checkVisibility()") is False


def options(browsing: Browsing) -> str:
    session = browsing.open(browsing.page("options"))
    shows(browsing, session, "Nothing has been learnt yet.")
    return session


def bring(browsing: Browsing, session: str, content: bytes, owner: str = "") -> None:
    """Import a file, by the form of the options."""
    browsing.inside(session, f"""{{
      const files = new DataTransfer();
      const bytes = Uint8Array.from(atob({base64.b64encode(content).decode()!r}),
                                    (letter) => letter.charCodeAt(0));
      files.items.add(new File([bytes], "list"));
      const form = document.getElementById("import");
      form.elements.file.files = files.files;
      form.elements.owner.value = {owner!r};
      form.requestSubmit(); }}""")


def saved(browsing: Browsing, session: str, button: str) -> bytes:
    """The file that a button of the options gives."""
    browsing.inside(session, """{ globalThis.saved = null;
      URL.createObjectURL = (blob) => { globalThis.saved = blob; return "#"; }; 0 }""")
    browsing.inside(session, f"document.getElementById({button!r}).click()")
    browsing.until(lambda: browsing.inside(session, "!!saved"))
    return base64.b64decode(browsing.inside(session, """saved.arrayBuffer().then((content) =>
      btoa([...new Uint8Array(content)].map((byte) => String.fromCharCode(byte)).join("")))"""))


def labels(folder: Path, address: str, html: str) -> Path:
    """A list that the program has made of a page."""
    from beam_reuse.core.settings import ChunkSettings, StopSettings

    detector = Detector((), chunks=ChunkSettings(normalise="text"),
                        stops=StopSettings(min_chunk_bytes=25, min_chunk_tokens=5))
    detector.learn(html, address)
    path = folder / "list.brl"
    detector.save(path)
    return path


def test_lists_are_brought_and_taken(browsing: Browsing, tmp_path: Path) -> None:
    session = options(browsing)
    path = labels(tmp_path, "https://www.bank.example/login?x", bank())
    bring(browsing, session, path.read_bytes())
    shows(browsing, session, f"Imported {CHUNKS} passages, 1 new site.")
    browsing.go(browsing.web.put("evil.example/", bank()))
    assert set(PASSAGES) <= set(browsing.warned()["passages"])
    taken = tmp_path / "taken.brl"
    taken.write_bytes(saved(browsing, session, "labels"))
    again = tmp_path / "again.brl"
    write_labels(str(again), read_list(str(taken)), Detector(taken)._made_with)
    assert again.read_bytes() == taken.read_bytes()
    finding = Detector(taken).check(bank(), "https://evil.example/")
    assert finding.flagged and finding.sources[0].name == "bank.example"
    assert finding.matching == CHUNKS


def test_hashes_are_brought_and_bad_files_refused(browsing: Browsing) -> None:
    session = options(browsing)
    hashes = "\n".join(hashes_of(cut(bank()))).encode()
    bring(browsing, session, hashes)
    shows(browsing, session, "give a domain beside the file")
    bring(browsing, session, hashes, "www.bank.example")
    shows(browsing, session, "1 new site.")
    browsing.go(browsing.web.put("evil.example/", bank()))
    assert "pieces of bank.example" in browsing.warned()["text"]
    bring(browsing, session, b"no hash", "www.bank.example")
    shows(browsing, session, "Line 1 is no SHA-1")


def test_a_backup_gives_everything_back(browsing: Browsing) -> None:
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    browsing.log_in(browsing.web.put("shop.example/", unrelated(3) + FORM))
    browsing.with_store("""async (store) => { await store.trust.join(["a.example", "b.example"]);
      await store.setNever(["quiet.example"]); }""")
    everything = dump(browsing)
    session = browsing.open(browsing.page("options"))
    shows(browsing, session, "2 sites")
    content = saved(browsing, session, "backup")
    browsing.forget_all()
    bring(browsing, session, content)
    shows(browsing, session, "2 new sites.")
    assert dump(browsing) == everything


def dump(browsing: Browsing) -> Any:
    return browsing.with_store("""async (store) => [store.never, store.joined, await Promise.all(
      (await store.heads()).map(async ({ domain }) => {
        const { chunks, ...site } = await store.site(domain);
        return [site, [...chunks].sort()]; }))]""")


def test_sites_are_shown_and_forgotten(browsing: Browsing) -> None:
    browsing.log_in(browsing.web.put("www.bank.example/login", bank()))
    session = browsing.open(browsing.page("options"))
    shows(browsing, session, "bank.example")
    browsing.inside(session, "document.querySelector('details').open = true")
    shows(browsing, session, "https://www.bank.example/login")
    browsing.inside(session, "document.querySelector('[aria-label^=Forget]').click()")
    shows(browsing, session, "Nothing has been learnt yet.")
    browsing.go(browsing.web.put("evil.example/", bank()))
    assert browsing.read()["reply"]["notice"] is None


@pytest.mark.parametrize("dark", [False, True])
def test_pages_of_the_extension_shut_nobody_out(warned: Browsing, dark: bool) -> None:
    script = axe_script()
    warned.look(dark=dark)
    notice = warned.ask_extension("encodeURIComponent(JSON.stringify("
                                  "{domain: 'evil.example', owner: 'bank.example', url: '', "
                                  "passages: [{text: 'x', page: 'y'}], count: 3}))")
    for name in ("options", "popup", f"warning.html#{notice}"):
        address = warned.page(name) if ".html" not in name else warned.page("x").replace(
            "x.html", name)
        warned.go(address)
        assert barriers(warned, script) == [], name
    warned.look()
