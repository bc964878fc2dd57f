"""Names that are short enough to be drawn, and still different."""

from collections.abc import Sequence

_CUT = "…"


def short_labels(labels: Sequence[str], most: int) -> list[str]:
    """The labels in `most` letters each, as many as there is room for in the middle of a name left
    out. Different labels stay different: those that would look alike show where they differ, and
    where that is not enough they are numbered."""
    plain = [_both_ends(label, most) for label in labels]
    taken: dict[str, set[str]] = {}
    for label, text in zip(labels, plain, strict=True):
        taken.setdefault(text, set()).add(label)
    told = [text if len(taken[text]) == 1 else _difference(label, taken[text], most)
            for label, text in zip(labels, plain, strict=True)]
    return _numbered(labels, told, most)


def _both_ends(label: str, most: int) -> str:
    if len(label) <= most:
        return label
    end = most // 2
    return label[: most - end - 1] + _CUT + label[-end:]


def _difference(label: str, others: set[str], most: int) -> str:
    """Where it begins to differ from others, and its end."""
    alike = max(_alike(label, other) for other in others if other != label)
    room = most - len(_CUT) * 2
    start = max(0, min(alike - 2, len(label) - room))
    end = room // 3
    middle = label[start : start + room - end]
    return _CUT + middle + _CUT + label[-end:] if start else _both_ends(label, most)


def _alike(a: str, b: str) -> int:
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y),
                min(len(a), len(b)))


def _numbered(labels: Sequence[str], texts: Sequence[str], most: int) -> list[str]:
    owner: dict[str, str] = {}
    found = []
    for label, text in zip(labels, texts, strict=True):
        new, number = text, 1
        while owner.setdefault(new, label) != label:
            number += 1
            behind = f"{_CUT}{number}"
            new = text[: most - len(behind)] + behind
        found.append(new)
    return found
