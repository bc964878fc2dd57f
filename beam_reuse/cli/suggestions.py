"""What a user may have meant by a name that is not known."""

from collections.abc import Iterable
from difflib import SequenceMatcher

CUTOFF = 0.6
# A word of a longer name of ours counts a bit less than the whole of a short one.
PART = 0.9
# What others call something must be this much more alike than what we call so.
OURS_FIRST = 0.15
MOST = 3


def did_you_mean(word: str, ours: Iterable[str], others: Iterable[str] = ()) -> str:
    """" Did you mean …?" with the names most like `word`, or nothing if none is; `_` counts
    as `-`. Names of `others` are suggested only where none of `ours` is nearly as much alike."""
    mine, score = _nearest(word, ours, PART)
    theirs, other_score = _nearest(word, others, 0.0)
    names = theirs if other_score > score + OURS_FIRST else mine
    if not names:
        return ""
    listed = ", ".join(names[:-1])
    return f" Did you mean {f'{listed} or ' if listed else ''}{names[-1]}?"


def _nearest(word: str, names: Iterable[str], part: float) -> tuple[list[str], float]:
    """The names most like `word`, at most three, and how much alike they are."""
    scored = [(_likeness(word, name, part), name) for name in names]
    best = max((score for score, _ in scored), default=0.0)
    if best < CUTOFF:
        return [], 0.0
    return [name for score, name in scored if score == best][:MOST], best


def _likeness(word: str, name: str, part: float) -> float:
    """From 0 to 1: of the whole name, or `part` times of the word in it that is most alike."""
    written, known = _bare(word), _bare(name)
    return max(_ratio(written, known), *(part * _ratio(written, w) for w in known.split("-")))


def _ratio(a: str, b: str) -> float:
    return SequenceMatcher(None, a, b).ratio()


def _bare(name: str) -> str:
    return name.lstrip("-").replace("_", "-").lower()
