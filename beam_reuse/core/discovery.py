"""When a file or chunk counts as copied."""

MIN_AUTO_THRESHOLD = 10
# The papers list files that occur more than 10^3 times among 2.86 * 10^9, and chunks that
# occur more than 10^5 times among 40.5 * 10^9.
OBJECTS_PER_OCCURRENCE = {"file": 2_860_000, "chunk": 405_000}


def auto_threshold(kind: str, objects: int) -> int:
    """The threshold for a corpus of `objects` occurrences of files or chunks: the papers'
    ratio, at least 10. What occurs more often than this is frequent."""
    return max(MIN_AUTO_THRESHOLD, objects // OBJECTS_PER_OCCURRENCE[kind])
