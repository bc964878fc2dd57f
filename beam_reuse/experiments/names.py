"""Names that the graph of an experiment and its reader share."""

EXPERT, BLIND = "expert", "blind"
PAGE, NEIGHBOURHOOD = "page", "neighbourhood"
# Stop chunks removed, kept, and kept while what is flagged is decided by the threshold that
# goes with removing them.
REMOVED, KEPT, KEPT_SAME = "removed", "kept", "kept, threshold of removed"
ALL_FILES, ALL_CHUNKS = "all files", "all chunks"


def threshold_name(level: str, labels: str) -> str:
    """The name of a threshold among the numbers of the background."""
    return f"{level} threshold, {labels}"
