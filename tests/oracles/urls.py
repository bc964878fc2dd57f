"""URLs of no pages: robots.txt, and recursion errors, by counting every component of the path."""

from urllib.parse import urlsplit


def cut_reason(url: str, max_depth: int, max_repeats: int) -> str | None:
    path = urlsplit(url).path
    if path == "/robots.txt":
        return "robots-txt"
    if max_depth and path.count("/") > max_depth:
        return "too-deep"
    components = path[1:].split("/")
    if components[-1] == "":
        components.pop()
    if max_repeats and any(components.count(one) >= max_repeats for one in components):
        return "path-repeats"
    return None
