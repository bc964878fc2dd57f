"""A crawl in which everything is an attack on who looks at it."""

import json
from pathlib import Path

SCRIPT = "<script>alert(1);fetch('http://evil.example/script')</script>"
PASSAGE = (f"<p onmouseover=alert(2)>A passage that is copied {SCRIPT}"
           "<img src=http://evil.example/i onerror=alert(3)> and goes on with words "
           "enough to be called one, \u202etxt.exe\u202c "
           "\u2066bidi\u2069 \x1b[31m and \u200bno width</p>")
MORE = (
    "<svg onload=alert(4)><image href='http://evil.example/svg'/></svg>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/refresh'>",
    "<style>@import url(http://evil.example/css);body{background:url(//evil.example/b)}</style>",
    "<iframe srcdoc='<script>alert(5)</script>' src=http://evil.example/frame></iframe>",
    "<link rel=stylesheet href=http://evil.example/l.css><base href=http://evil.example/>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=x "
    "onerror=alert(10)&gt;\"></table></mtext></math><noscript><p title=\"</noscript><img "
    "src=http://evil.example/n onerror=alert(11)>\"></noscript><form><button formaction="
    "http://evil.example/g name=__proto__></button></form>",
    "<style>@font-face{font-family:e;src:url(http://evil.example/f)}p{font-family:e;background:"
    "image-set('http://evil.example/set' 1x)}u{cursor:u\\72l(//evil.example/c),auto}@\\69mport "
    "'http://evil.example/more';</style><u style=\"background:image-set('http://evil.example/s' "
    "1x)\">x</u><img srcset='http://evil.example/ss 2x' src='data:image/svg+xml;base64,"
    "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+'><a ping=http://evil.example/p href='data:text/html,x'>y</a>",
    "<a href='javascript:alert(6)'>click</a><form action=http://evil.example/f><input autofocus "
    "onfocus=alert(7)></form>", "</script></style></textarea></title>{{7*7}}${7*7}"
    "<x-app onclick=alert(12) style='background:url(http://evil.example/app)'>an app<script>alert"
    "(13)</script></x-app><marquee onstart=alert(14)>runs</marquee><dialog open onclose=alert(15)>"
    "<form action=http://evil.example/d><input autofocus onfocus=alert(16)>asks</form></dialog>"
    "<svg><text onload=alert(17)>drawn</text><foreignObject><p onclick=alert(18)>in it</p>"
    "</foreignObject></svg><!--",
    "<link rel=preconnect href=http://evil.example><link rel=dns-prefetch href=//dns.evil.example>"
    "<object data=http://evil.example/o></object><embed src=http://evil.example/e><video autoplay "
    "src=http://evil.example/v></video><p style='background:\\75rl(http://evil.example/u)'>x</p>",
)
LONG = 10_000_000
"""Letters of one line: of words, and without a space."""
LINES = ("<p>" + "a line without an end " * (LONG // 22), "<p>" + "x" * LONG)
TITLES = ("</title><script>alert(8)</script>", "\u202eeltit", "<img src=x onerror=alert(9)>")


def urls() -> list[str]:
    """Two of each: what differs is the host."""
    paths = ("?q=<script>alert(1)</script>", "\"onmouseover=alert(1)//", "'><svg onload=alert(1)>",
             "%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "\u202egpj.exe", "javascript:alert(1)",
             "../../../../etc/passwd", "a b<c>d", "__proto__?constructor=__proto__",
             "%00%0d%0aSet-Cookie:a=b", "words", "letters")
    return [f"http://{host}.example/{path}" for path in paths for host in ("bad", "worse")]


def write_attacks(path: Path) -> None:
    """Pages that are near-duplicates, have passages in common, and overlap."""
    common = " ".join(f"word{n} of the copied text" for n in range(200))
    with open(path, "w") as out:
        for n, url in enumerate(urls()):
            html = (f"<title>{TITLES[n % len(TITLES)]}</title>{PASSAGE}<p>{common}</p>"
                    f"{(*MORE, *LINES)[n // 2]}<p>number {n}{SCRIPT}</p>")
            out.write(json.dumps({"url": url, "html": html}) + "\n")
        out.write('{"url": "http://bad.example/<script>alert(1)</script>", "html": \n')
        out.write(json.dumps({"url": "<script>alert(1)</script>", "html": "x"}) + "\n")
