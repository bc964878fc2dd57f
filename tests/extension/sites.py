"""Sites for tests: a bank, its copies, and what else is on the web."""

import random
import re
from collections.abc import Callable

from tests.extension.browsing import quoted

PASSAGES = (
    "Welcome to the bank of the northern lights, where your savings are warm.",
    "Never tell anybody your secret number, not even one of us, and not on the telephone.",
    "Have you forgotten your password? Call us on any working day between eight and six.",
    "Deposits are protected up to one hundred thousand crowns by the fund of the north.",
    "Since May we ask for a second sign of life when you log in from a new machine.",
)
CHUNKS = len(PASSAGES) + 2
"""Of the bank's page: its passages, what is above them, and its form."""
FORM = ("<form action=/in><label>Name <input name=user></label><label>Secret "
        "<input type=password name=secret></label><button type=button>Log in</button></form>")
WORDS = ("river", "stone", "market", "evening", "letter", "garden", "window", "morning", "bridge",
         "silver", "number", "yellow", "paper", "forest", "winter", "summer", "island", "captain",
         "doctor", "music", "travel", "butter", "school", "engine")


def bank() -> str:
    """The login page of the bank, as it is."""
    body = "".join(f'<div class="box-{at}"><p class=text><a href="/help/{at}">{text}</a></p></div>'
                   for at, text in enumerate(PASSAGES))
    return ("<!doctype html><html lang=en><title>Log in to the bank</title>"
            "<link rel=stylesheet href=/style.css><nav><a href=/>Home</a> <a href=/rates>Rates</a>"
            f"</nav><h1>The bank</h1>{body}<div>{FORM}</div><footer>The bank, Tromsø</footer>")


def redesigned() -> str:
    """The bank's page after a redesign: another frame, two new passages, three of the old."""
    body = "".join(f"<section><p>{text}</section>" for text in PASSAGES[:3])
    return ("<!doctype html><title>The new bank</title><header><ul><li>Home<li>About</ul></header>"
            f"<main>{body}<p>We have painted everything in another blue, do you like it?"
            f"<p>Our branches are open on Saturdays from now on.</main><div>{FORM}</div>")


def rewritten(html: str) -> str:
    """A copy whose links and classes are the copier's own."""
    html = re.sub(r'href="[^"]*"', 'href="https://evil.example/go?x=1" onclick="return f(this)"',
                  html)
    return re.sub(r"class=\S+?(?=[ >])", 'class="z9" data-v="7" style="color:#222"', html)


def inlined(html: str) -> str:
    """A copy in one file: styles, pictures and scripts are in it."""
    return html.replace("<link rel=stylesheet href=/style.css>", (
        "<style>p{color:#123}body{background:url(data:image/gif;base64,R0lGODlhAQABAAAAACw=)}"
        "</style><script>document.documentElement.dataset.copied = 1</script>"))


def appended(html: str) -> str:
    """A copy with other text after it, and with a word more in one of its passages."""
    changed = html.replace(PASSAGES[0], PASSAGES[0] + " Hurry!")
    return changed + "".join(f"<p>{unrelated_text(at)}" for at in range(40))


def late(html: str) -> str:
    """A copy that a script writes when the page has settled."""
    return ("<!doctype html><title>Loading</title><p>One moment, please, it takes a while.<script>"
            f"setTimeout(() => {{ document.body.innerHTML = {quoted(html)} }}, 900)</script>")


def in_shadow(html: str) -> str:
    """A copy in a shadow tree that scripts of the page cannot look into."""
    return ("<!doctype html><div id=host></div><script>document.getElementById('host')"
            f".attachShadow({{mode: 'closed'}}).innerHTML = {quoted(html)}</script>")


def in_frame(html: str) -> str:
    """A copy in a frame that has no address."""
    return ("<!doctype html><title>x</title><iframe id=f style='width:90%;height:500px'></iframe>"
            f"<script>document.getElementById('f').srcdoc = {quoted(html)}</script>")


def in_sandbox(html: str) -> str:
    return in_frame(html).replace("<iframe", "<iframe sandbox")


def in_blob(html: str) -> str:
    return ("<!doctype html><title>x</title><iframe id=f style='width:90%;height:500px'></iframe>"
            "<script>document.getElementById('f').src = URL.createObjectURL(new Blob(["
            f"{quoted(html)}], {{type: 'text/html'}}))</script>")


def written(html: str) -> str:
    """A copy that replaces the document it is in."""
    return f"<!doctype html><script>document.open(); document.write({quoted(html)})</script>"


def endless(html: str) -> str:
    """A copy that never comes to rest."""
    return html + ("<p id=t></p><script>setInterval(() => {t.textContent = Math.random()}, 20)"
                   "</script>")


COPIES: dict[str, Callable[[str], str]] = {
    "as is": lambda html: html, "rewritten": rewritten, "inlined": inlined, "appended": appended,
    "late": late, "in a closed shadow tree": in_shadow, "in a frame without an address": in_frame,
    "in a sandbox": in_sandbox, "in a blob": in_blob, "written over": written, "endless": endless,
}


def unrelated_text(seed: int) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choices(WORDS, k=chance.randint(6, 20))) + f" {seed}"


def unrelated(seed: int, passages: int = 20) -> str:
    """A page of somebody else."""
    body = "".join(f"<p>{unrelated_text(1000 * seed + at)}" for at in range(passages))
    return f"<!doctype html><title>Page {seed}</title>{body}"
