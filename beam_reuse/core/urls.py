"""Names of pages: canonical URL, host, site, registered domain, directory prefixes.

`canonical_url` and `name_page` are total: any string gives a value or `BadUrl`. What else
takes a URL takes a canonical one.
"""

import ipaddress
import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import idna
from publicsuffixlist import PublicSuffixList

from beam_reuse.kernels.prefixes import ROBOTS_TXT

_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21, "ws": 80, "wss": 443, "gopher": 70}
_BLANKS = "".join(map(chr, range(0x21)))
_PLAIN = re.compile(r"(https?)://((?:[a-z0-9-]+\.)*[a-z0-9-]+)(/[^?]*)?(\?.*)?\Z", re.DOTALL)
_PARTS = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*):)?(?://(?P<authority>[^/?#]*))?"
    r"(?P<path>[^?#]*)(?P<query>\?[^#]*)?",
    re.IGNORECASE | re.ASCII,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_IN_HOST = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]")
_LABELS = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_RESERVED = ("example", "internal", "invalid", "local", "localhost", "test")
_SUFFIXES: list[PublicSuffixList] = []


class BadUrl(ValueError):
    """A string that names no page; the message says what is missing or wrong."""


class PageName(NamedTuple):
    """What a page is called: its key, where it is, how deep its directory lies."""

    url: str
    host: str
    site: str
    domain: str
    depth: int


def canonical_url(fetched: str) -> str:
    """The key of a page.

    Scheme and host lower-case, host in ASCII (IDNA); its trailing dot, user info, default
    port and fragment removed; an empty path becomes `/`. Path, query and escapes stay as
    they are, except that a lone surrogate (a byte that was not UTF-8) is percent-escaped.
    Blanks and control characters around the URL are dropped. Idempotent.
    """
    return _canonical_parts(fetched)[0]


def name_page(fetched: str) -> PageName:
    """Canonical URL of a page and everything derived from it; about 4 µs for usual URLs."""
    url, host, path = _canonical_parts(fetched)
    site, domain = _site_and_domain(host)
    return PageName(url, host, site, domain, path.count("/"))


def _canonical_parts(fetched: str) -> tuple[str, str, str]:
    """Canonical URL, host, path."""
    text = fetched.partition("#")[0].strip(_BLANKS)
    plain = _PLAIN.match(text) if text.isascii() else None
    if plain:
        scheme, host, path, query = plain.groups("")
        path = path or "/"
        return f"{scheme}://{host}{path}{query}", host, path
    if not text.isascii():
        text = _SURROGATE.sub(_escape_surrogate, text)
    parts = _PARTS.match(text)
    if parts is None or parts["scheme"] is None:
        raise BadUrl("no scheme")
    if parts["authority"] is None:
        raise BadUrl("no host")
    scheme = parts["scheme"].lower()
    host, port = _split_authority(parts["authority"])
    host = _ascii_host(host)
    default = port is None or port == _DEFAULT_PORTS.get(scheme)
    authority = host if default else f"{host}:{port}"
    path = parts["path"] or "/"
    return f"{scheme}://{authority}{path}{parts['query'] or ''}", host, path


def _escape_surrogate(match: re.Match[str]) -> str:
    """A surrogate as the escapes of the bytes it stands for (`surrogateescape` or WTF-8)."""
    code = ord(match[0])
    data = bytes([code - 0xDC00]) if 0xDC80 <= code <= 0xDCFF else match[0].encode(
        "utf-8", "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in data)


def _split_authority(authority: str) -> tuple[str, int | None]:
    """Host as written and port number, None where none is given."""
    place = authority.rpartition("@")[2]
    bracket = place.rfind("]")
    host, colon, port = place[bracket + 1:].rpartition(":")
    if not colon:
        return place, None
    if port and not (port.isascii() and port.isdigit() and len(port) <= 9 and int(port) < 65536):
        raise BadUrl(f"bad port {port[:20]!r}")
    return place[: bracket + 1] + host, int(port) if port else None


@lru_cache(maxsize=1 << 16)
def _ascii_host(host: str) -> str:
    """Host lower-case, in ASCII, without trailing dot; `BadUrl` where there is none, or one of its
    labels is empty."""
    if host.startswith("["):
        try:
            ipaddress.IPv6Address(host[1:-1] if host.endswith("]") and "%" not in host else "")
        except ValueError:
            raise BadUrl(f"bad IPv6 address {host[:60]!r}") from None
        return host.lower()
    name = host
    if "%" in name:
        try:
            name = unquote_to_bytes(name).decode("utf-8")
        except UnicodeDecodeError:
            raise BadUrl(f"bad host {host[:60]!r}") from None
    if not name.isascii():
        name = _idna(name)
    name = name.lower().removesuffix(".")
    if not name:
        raise BadUrl("no host")
    if _NOT_IN_HOST.search(name) or "" in name.split("."):
        raise BadUrl(f"bad host {host[:60]!r}")
    return name


def _idna(name: str) -> str:
    """A name as browsers ask for it: UTS 46 mapping, then Punycode label by label."""
    try:
        mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)
        return ".".join(
            label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
            for label in mapped.split(".")
        )
    except (idna.IDNAError, UnicodeError):
        raise BadUrl(f"bad host {name[:60]!r}") from None


def site_of(host: str) -> str:
    """The host if it has at most one dot, else the host minus its first label; an IP
    address is its own site."""
    if host.count(".") <= 1 or _is_address(host):
        return host
    return host.partition(".")[2]


def domain_of(host: str) -> str:
    """Registered domain by the whole public suffix list (private section included).

    An IP address, a host without a dot and a public suffix are their own domain.
    """
    if "." not in host or _is_address(host):
        return host
    if not _SUFFIXES:
        _SUFFIXES.append(PublicSuffixList())
    return _SUFFIXES[0].privatesuffix(host) or host


@lru_cache(maxsize=1 << 10)
def is_public_host(name: str, with_port: bool = False) -> bool:
    """Whether a name can only be that of a host: an address, or labels that end in a public suffix
    or a reserved one (`v1.2` and `conf.d` do not). Next to a port any host will do."""
    try:
        host = _ascii_host(name)
    except BadUrl:
        return False
    if not _LABELS.fullmatch(host):
        return False
    last = host.rpartition(".")[2]
    return with_port or _is_address(host) or (
        "." in host and (last in _RESERVED or _known_suffixes().publicsuffix(host) is not None))


@lru_cache(maxsize=1)
def _known_suffixes() -> PublicSuffixList:
    """The list without its last rule, by which any label is a suffix."""
    return PublicSuffixList(accept_unknown=False)


@lru_cache(maxsize=1 << 16)
def _site_and_domain(host: str) -> tuple[str, str]:
    return site_of(host), domain_of(host)


def _is_address(host: str) -> bool:
    if host.startswith("["):
        return True
    if not host[-1:].isdigit():
        return False
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return True


def resolve_url(base: str, reference: str) -> str:
    """`reference` seen from `base`, by RFC 3986 §5, the same for every scheme.

    Total: what is no URL comes out as a string that `canonical_url` refuses. Blanks
    around the reference, tabs and line ends in it are dropped, as browsers do.
    """
    reference = reference.strip(_BLANKS)
    for char in "\t\n\r":
        reference = reference.replace(char, "")
    there, here = _match_parts(reference), _match_parts(base)
    if there["scheme"] is not None:
        return reference
    scheme = f"{here['scheme']}:" if here["scheme"] is not None else ""
    if there["authority"] is not None:
        return scheme + reference
    start = scheme + (f"//{here['authority']}" if here["authority"] is not None else "")
    query = there["query"] or ""
    if not there["path"]:
        return start + here["path"] + (query or here["query"] or "")
    path = there["path"]
    if not path.startswith("/"):
        path = here["path"].rpartition("/")[0] + "/" + path
    return start + _remove_dots(path) + query


def _match_parts(url: str) -> re.Match[str]:
    match = _PARTS.match(url)
    assert match is not None  # every part of the pattern may be empty
    return match


def _remove_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _host_and_path(url: str) -> tuple[str, str]:
    """Host and path of a canonical URL."""
    _, _, authority, path = url.partition("?")[0].split("/", 3)
    return _split_authority(authority)[0], "/" + path


def prefixes(url: str) -> list[str]:
    """Directory prefixes of a canonical URL, the host's (`host/`) first.

    `http://h:81/a/b?q` gives `h/`, `h/a/`; a page `/a/` belongs to `/a/`.
    """
    host, path = _host_and_path(url)
    found = [host + "/"]
    for directory in path.split("/")[1:-1]:
        found.append(f"{found[-1]}{directory}/")
    return found


def cut_reason(url: str, max_depth: int, max_repeats: int) -> str | None:
    """Why what is at a canonical URL is no page, or None.

    `robots-txt`: it is a host's rules for crawlers, in the one place where these look for them.
    Others look like a crawler caught in a loop. `too-deep`: prefix depth above `max_depth`.
    `path-repeats`: one component of the path occurs in it `max_repeats` or more times, in a row or
    not (an empty component between two slashes counts). 0 switches either off. Linear in the URL's
    length.
    """
    path = _host_and_path(url)[1]
    if path == ROBOTS_TXT.decode():
        return "robots-txt"
    if max_depth and path.count("/") > max_depth:
        return "too-deep"
    components = path.split("/")[1:]
    if components[-1] == "":
        components.pop()
    more = len(components) - len(set(components))
    if not max_repeats or more < max_repeats - 1:
        return None
    most = max(Counter(components).values())
    return "path-repeats" if most >= max_repeats else None
