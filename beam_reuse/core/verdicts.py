"""The words with which people judge a row."""

from enum import Enum


class Verdict(Enum):
    """What a label says of a page, directory, file or chunk; not of the flag it was given."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    UNDECIDED = "undecided"


WORDS = {
    Verdict.POSITIVE: ("correct", "1", "yes", "true", "positive", "bad", "spam", "phish",
                       "phishing", "malicious", "copied", "copy", "clone"),
    Verdict.NEGATIVE: ("incorrect", "0", "no", "false", "negative", "good", "benign", "ham",
                       "legitimate", "original"),
    Verdict.UNDECIDED: ("undecided", "?", "unknown", "unsure", "unclear"),
}
_VERDICTS = {word: verdict for verdict, words in WORDS.items() for word in words}
_OF_PAIRS = {Verdict.POSITIVE: "correct", Verdict.NEGATIVE: "incorrect",
             Verdict.UNDECIDED: "undecided"}
ALLOWED = "; ".join(f"{verdict.value}: {', '.join(words)}" for verdict, words in WORDS.items())


def verdict_of(label: str) -> Verdict | None:
    """What a label means, in any case; None for one that is empty: not judged yet.

    Raises ValueError for any other word.
    """
    word = label.strip().lower()
    if not word:
        return None
    if word not in _VERDICTS:
        raise ValueError(label)
    return _VERDICTS[word]


def pair_word(verdict: Verdict | None) -> str:
    """What is said of a pair, in a word; none where nobody was asked."""
    return _OF_PAIRS[verdict] if verdict else ""
