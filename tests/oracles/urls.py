"""Recursion errors of SPEC §1, by trying every stretch of the path."""

from urllib.parse import urlsplit


def recursion_reason(url: str, max_depth: int, max_repeats: int) -> str | None:
    path = urlsplit(url).path
    if max_depth and path.count("/") > max_depth:
        return "too-deep"
    components = path[1:].split("/")
    if components[-1] == "":
        components.pop()
    if max_repeats:
        for cycle in range(1, 9):
            for start in range(len(components)):
                stretch = components[start:start + cycle * max_repeats]
                if len(stretch) == cycle * max_repeats and stretch == stretch[:cycle] * max_repeats:
                    return "path-repeats"
    return None
