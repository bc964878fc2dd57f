"""Who may ask the viewer: a browser of this machine that was given its token, and no page of
another site that happens to be open in it."""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

HOSTS = ("127.0.0.1", "localhost")
MOST_BYTES = 1 << 16
JSON = "application/json"
OPEN = ("Open the address that beam-reuse view has printed, with its token. Each start has a token "
        "of its own.")


class Refused(Exception):
    """A request that is not answered; the message says why."""


@dataclass(frozen=True)
class Guard:
    """The rules for a server at `port`.

    `Host` must be this server's (a name that an attacker points to 127.0.0.1 is none), `Origin`
    and `Sec-Fetch-Site`, where they are sent, must be its own, and the token must be known: from
    the address that was printed, and from then on from a cookie that other sites cannot make a
    browser send.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        return f"http://{HOSTS[0]}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The header that gives the browser its cookie. Ports share cookies, so its name has the
        port."""
        return f"{self._cookie_name}={self.token}; HttpOnly; SameSite=Strict; Path=/"

    @property
    def _cookie_name(self) -> str:
        return f"beam-reuse-{self.port}"

    def check_origin(self, headers: Mapping[str, str]) -> None:
        """Refuse what another site has asked for."""
        hosts = [f"{host}:{self.port}" for host in HOSTS]
        if headers.get("Host") not in hosts:
            raise Refused("This address is not the viewer's own.")
        origin = headers.get("Origin")
        if origin is not None and origin not in [f"http://{host}" for host in hosts]:
            raise Refused("Another site has asked for this.")
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refused("Another site has asked for this.")

    def knows(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def check_change(self, headers: Mapping[str, str]) -> int:
        """Refuse a request that would change something unless a page of the viewer itself has made
        it: browsers always name the origin of such a request, and let no other site send JSON.
        Gives the length of what follows."""
        if "Origin" not in headers:
            raise Refused("Only a page of the viewer changes anything.")
        if headers.get("Content-Type", "").partition(";")[0].strip().lower() != JSON:
            raise Refused("Only JSON is read.")
        length = headers.get("Content-Length", "")
        if "Transfer-Encoding" in headers or not (length.isascii() and length.isdigit()):
            raise Refused("The length is not given.")
        if len(length) > 9 or int(length) > MOST_BYTES:
            raise Refused("This is too long.")
        return int(length)

    def check_cookie(self, headers: Mapping[str, str]) -> None:
        """Refuse who has no token."""
        try:
            given = SimpleCookie(headers.get("Cookie", "")).get(self._cookie_name)
        except CookieError:
            given = None
        if given is None or not self.knows(given.value):
            raise Refused(OPEN)
