"""When a chunk counts as copied."""

MIN_AUTO_THRESHOLD = 10
# The papers list chunks that occur more than 10^5 times among 40.5 * 10^9.
CHUNKS_PER_OCCURRENCE = 405_000


def auto_threshold(chunks: int) -> int:
    """The threshold for a corpus of `chunks` chunk occurrences: the papers' ratio, at least
    10. A chunk is frequent if it occurs more often than this."""
    return max(MIN_AUTO_THRESHOLD, chunks // CHUNKS_PER_OCCURRENCE)
