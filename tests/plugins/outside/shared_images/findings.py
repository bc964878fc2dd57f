"""What the analysis says in the summary of a run."""

from collections.abc import Iterator

from beam_reuse.core.wording import counted
from beam_reuse.io.results.result import Result
from shared_images.tables import SHARED_IMAGES

SHOWN = 3


def shared_images(result: Result) -> Iterator[str]:
    """How many images are shared, and those on most hosts."""
    least = counted(result.settings["min-image-hosts"], "host")
    yield f"shared images: {counted(result.rows(SHARED_IMAGES), 'image')} on {least} or more"
    for row in result.top(SHARED_IMAGES, "hosts", SHOWN, ("image", "hosts", "pages")):
        yield f"  {counted(row['hosts'], 'host')}, {counted(row['pages'], 'page')}: {row['image']}"
    yield ""
