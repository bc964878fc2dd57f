"""What the analysis is: settings, options, what it counts, and where the rest is. No Beam."""

from dataclasses import dataclass

from beam_reuse.core.settings import require
from beam_reuse.declaring.about import About
from beam_reuse.declaring.kinds import WHOLE
from beam_reuse.declaring.option import option


@dataclass(frozen=True)
class SharedImageSettings:
    """An image is shared if pages of `min_hosts` hosts or more show it."""

    min_hosts: int = 2

    def __post_init__(self) -> None:
        require(self.min_hosts >= 2, "min_hosts", self.min_hosts, "2 or more")


SHARED_IMAGES = About(
    name="shared-images",
    settings=SharedImageSettings,
    transform="shared_images.find:FindSharedImages",
    tables="shared_images.tables:TABLES",
    findings="shared_images.findings:shared_images",
    question="which images are shown by several hosts",
    help="  shared_images         each image: on how many hosts and pages, and the first page",
    options=(
        option("min-image-hosts", WHOLE, "report images on so many hosts or more", "min_hosts"),
    ),
    counts={"images-without-url": "images inside of a page (data:) are not compared"},
)
