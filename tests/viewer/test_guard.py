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


def asked(server: Viewer, path: str = "/api/overview", method: str = "GET",
          **headers: str | None) -> str:
    """The answer to a request with the right headers, but for those given (None: left out)."""
    host = f"127.0.0.1:{server.server_port}"
    sent = {"Host": host, "Cookie": f"beam-reuse-{server.server_port}={server.guard.token}"} | {
        name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{method} {path} HTTP/1.1", *(
        f"{name}: {value}" for name, value in sent.items() if value is not None),
        "Connection: close", "", ""]
    with socket.create_connection(("127.0.0.1", server.server_port), 20) as connection:
        connection.sendall("\r\n".join(lines).encode())
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


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "X"])
def test_only_get_is_known(server: Viewer, method: str) -> None:
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
