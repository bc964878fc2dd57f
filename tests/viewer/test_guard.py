"""Who is answered: plain sockets, as an attacker would."""

import socket
from collections.abc import Iterator

import pytest

from beam_reuse.viewer.serving import HEADERS, Viewer
from tests.judging.results import page_row, write_result
from tests.viewer.serving import viewing


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    folder = tmp_path_factory.mktemp("guard") / "r"
    rows = [page_row(f"http://a.example/{n}", n, 10, n > 5) for n in range(10)]
    with viewing(write_result(folder, {"page_reuse": [rows]})) as started:
        yield started


def asked(server: Viewer, path: str = "/api/overview", method: str = "GET", content: bytes = b"",
          **headers: str | None) -> str:
    """The answer to a request with the right headers, but for those given (None: left out)."""
    host = f"127.0.0.1:{server.server_port}"
    sent = {"Host": host, "Cookie": f"beam-reuse-{server.server_port}={server.guard.token}"} | {
        name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{method} {path} HTTP/1.1", *(
        f"{name}: {value}" for name, value in sent.items() if value is not None),
        "Connection: close", "", ""]
    with socket.create_connection(("127.0.0.1", server.server_port), 20) as connection:
        connection.sendall("\r\n".join(lines).encode() + content)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
    return answer.decode()


def status(answer: str) -> int:
    return int(answer.split()[1])


def test_who_has_the_cookie_is_answered_with_strict_headers(server: Viewer) -> None:
    answer = asked(server)
    assert status(answer) == 200 and '"page_reuse": 10' in answer
    for name, value in HEADERS.items():
        assert f"{name}: {value}\r\n" in answer
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    assert status(asked(server, Host=f"localhost:{server.server_port}")) == 200
    own = f"http://127.0.0.1:{server.server_port}"
    assert status(asked(server, Origin=own, Sec_Fetch_Site="same-origin")) == 200


@pytest.mark.parametrize("headers", [
    {"Cookie": None}, {"Cookie": "beam-reuse-PORT=wrong"}, {"Cookie": "other=TOKEN"},
    {"Host": "evil.example:PORT"}, {"Host": "127.0.0.1"}, {"Host": None}, {"Host": "127.0.0.1:1"},
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "https://127.0.0.1:PORT"},
    {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
])
@pytest.mark.parametrize("path", ["/", "/api/overview", "/app.js", "/figure/0.svg"])
def test_others_are_refused(server: Viewer, path: str, headers: dict[str, str | None]) -> None:
    port, token = str(server.server_port), server.guard.token
    given = {name: value and value.replace("PORT", port).replace("TOKEN", token)
             for name, value in headers.items()}
    answer = asked(server, path, **given)
    assert status(answer) == 403
    assert "page_reuse" not in answer and token not in answer


def test_the_token_becomes_a_cookie_once(server: Viewer) -> None:
    answer = asked(server, f"/?token={server.guard.token}", Cookie=None)
    assert status(answer) == 303 and "Location: /\r\n" in answer
    assert "HttpOnly; SameSite=Strict" in answer
    for path in ("/?token=x", "/?token=", f"/api/overview?token={server.guard.token}"):
        assert status(asked(server, path, Cookie=None)) == 403
    rebound = asked(server, f"/?token={server.guard.token}", Host="evil.example", Cookie=None)
    assert status(rebound) == 403 and "Set-Cookie" not in rebound


def test_who_opens_it_without_the_token_gets_a_page_that_says_how(server: Viewer) -> None:
    for path in ("/", "/?token=old"):
        answer = asked(server, path, Cookie=None)
        assert "Content-Type: text/html" in answer and "<p>" in answer
        assert "Open the address that beam-reuse view has printed" in answer
        assert all(f"{name}: {value}\r\n" in answer for name, value in HEADERS.items())
    assert "Content-Type: application/json" in asked(server, "/api/overview", Cookie=None)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "X"])
def test_only_get_and_post_are_known(server: Viewer, method: str) -> None:
    assert status(asked(server, method=method)) == 405


@pytest.mark.parametrize("path", [
    "/../../etc/passwd", "//etc/passwd", "/static/app.js", "/app.js/../../view.py", "/serving.py",
    "/%2e%2e/%2e%2e/etc/passwd", "/api/../app.py", "/figure/../../etc/passwd", "/figure/1000.svg",
    "/report.html", "/manifest.json", "/api/", "/api/query",
])
def test_no_path_reaches_a_file(server: Viewer, path: str) -> None:
    assert status(asked(server, path)) == 404


@pytest.mark.parametrize("query", [
    "table", "table?name=pages;drop", "table?name=page_reuse&sql=1", "table?name=page_reuse&rows=x",
    "table?name=page_reuse&sort=url;--", "table?name=page_reuse&filters=url)%20or%20(1.is.1",
    "table?name=page_reuse&filters=url.like.x", "table?name=page_reuse&filters=chunks.min.1;",
    "table?name=page_reuse&sort=url&sort=url", "table?name=page_reuse&descending=1",
    "table?name=page_reuse&sort=chunks&after=[]", "table?name=page_reuse&after=[[1],2]",
    "table?name=page_reuse&filters=flagged.is.maybe", "page?url=", "record?file=/etc/passwd",
])
def test_what_is_no_value_of_its_type_is_refused(server: Viewer, query: str) -> None:
    assert status(asked(server, f"/api/{query}")) in (400, 404)


def posted(server: Viewer, path: str, content: bytes, **headers: str | None) -> str:
    """The answer to a POST as the viewer's own page sends it, but for the headers given."""
    sent: dict[str, str | None] = {
        "Origin": f"http://127.0.0.1:{server.server_port}", "Sec_Fetch_Site": "same-origin",
        "Content_Type": "application/json", "Content_Length": str(len(content))}
    return asked(server, path, "POST", content, **sent | headers)


DRAW = b'{"table": "page_reuse", "rows": 3}'


def test_a_page_of_the_viewer_may_post(server: Viewer) -> None:
    answer = posted(server, "/api/draw", DRAW)
    assert status(answer) == 200 and '"rows": 3' in answer
    for name, value in HEADERS.items():
        assert f"{name}: {value}\r\n" in answer


@pytest.mark.parametrize("headers", [
    {"Cookie": None}, {"Cookie": "beam-reuse-PORT=wrong"}, {"Host": "evil.example:PORT"},
    {"Host": None}, {"Origin": None}, {"Origin": "null"}, {"Origin": "http://evil.example"},
    {"Origin": "https://127.0.0.1:PORT"}, {"Origin": "http://127.0.0.1:1"},
    {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
    {"Content_Type": None}, {"Content_Type": "text/plain"},
    {"Content_Type": "application/x-www-form-urlencoded"}, {"Content_Type": "text/json"},
    {"Content_Length": None}, {"Content_Length": "-1"}, {"Content_Length": "1e3"},
    {"Content_Length": "65537"}, {"Content_Length": "9" * 30}, {"Transfer_Encoding": "chunked"},
])
def test_other_posts_change_nothing(server: Viewer, headers: dict[str, str | None]) -> None:
    before = server.view.sheets.names()
    given = {name: value and value.replace("PORT", str(server.server_port))
             for name, value in headers.items()}
    answer = posted(server, "/api/draw", DRAW, **given)
    assert status(answer) == 403 and "Connection: close\r\n" in answer
    assert server.view.sheets.names() == before


@pytest.mark.parametrize(("path", "content"), [
    ("/api/draw", b""), ("/api/draw", b"{"), ("/api/draw", b"[]"), ("/api/draw", b"{}"),
    ("/api/draw", b'{"table": "pages"}'), ("/api/draw", b'{"table": 7}'),
    ("/api/draw", b'{"table": "page_reuse", "rows": "-1"}'),
    ("/api/draw", b'{"table": "page_reuse", "rows": true}'),
    ("/api/draw", b'{"table": "page_reuse", "rows": 1000000}'),
    ("/api/draw", b'{"table": "page_reuse", "by": {"a": 1}}'),
    ("/api/draw", b'{"table": "page_reuse", "where": ["url = x; drop table pages"], "sql": 1}'),
    ("/api/draw", b'{"table": "../../x"}'), ("/api/draw", b"[" * 50_000),
    ("/api/judge", b'{"sheet": "/etc/passwd", "row": 2, "key": "", "label": "correct", '
                   b'"reason": "", "seen": ["", "", "", ""]}'),
    ("/api/undo", b'{"sheet": "../r/manifest.json", "row": 2, "key": "", "seen": [], "back": []}'),
    ("/api/overview", b"{}"), ("/api/table", b'{"name": "page_reuse"}'), ("/", b"{}"),
    ("/app.js", b"{}"),
])
def test_what_is_no_change_is_refused(server: Viewer, path: str, content: bytes) -> None:
    before = server.view.sheets.names()
    assert status(posted(server, path, content)) in (400, 404)
    assert server.view.sheets.names() == before


def test_get_changes_nothing(server: Viewer) -> None:
    before = server.view.sheets.names()
    assert status(asked(server, "/api/draw?table=page_reuse")) == 404
    assert server.view.sheets.names() == before


def test_what_follows_a_refused_post_is_no_request(server: Viewer) -> None:
    cookie = f"beam-reuse-{server.server_port}={server.guard.token}"
    hidden = (f"GET /api/overview HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
              f"Cookie: {cookie}\r\n\r\n").encode()
    answer = posted(server, "/api/draw", hidden, Content_Type="text/plain")
    assert answer.count("HTTP/1.1 ") == 1 and "page_reuse" not in answer
