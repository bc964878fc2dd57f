"""Discovery and detection in one plan, as a run asks for them."""

from beam_reuse.analyses.reuse.detect import DetectReuse
from beam_reuse.analyses.reuse.discover import DiscoverReuse
from beam_reuse.analyses.reuse.labels import CHUNKS_AND_PAYLOAD, listed_labels
from beam_reuse.analyses.reuse.matches import MATCHES
from beam_reuse.analyses.reuse.settings import detects, discovers
from beam_reuse.core.features import Reads
from beam_reuse.declaring.settings import Settings
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.rows import Rows, Value


class FindReuse(Analysis):
    """Pages -> the tables of discovery and of detection, those of them that the settings ask for.
    What detection knows comes from the lists of labels, if there are any, else from discovery."""

    folding = {"matched_chunks": MATCHES}  # noqa: RUF012
    grows = True

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings

    @classmethod
    def of(cls, settings: Settings) -> "FindReuse":
        return cls(settings)

    def reads(self) -> Reads:
        return CHUNKS_AND_PAYLOAD

    def find(self, pages: Pages) -> Found:
        settings, detection = self.settings, self.settings.detection
        digest = detection.matcher == "nilsimsa"
        tables: dict[str, Rows] = {}
        values: dict[str, Value | int] = {}
        labels, candidates = pages.plan.nothing(), None
        if discovers(settings):
            discovered = DiscoverReuse.of(settings).discover(pages)
            labels, candidates = discovered.labels, discovered.candidates
            tables |= discovered.tables
        if detection.labels:
            labels, candidates = listed_labels(pages.plan, detection.labels, digest), None
        if detects(settings):
            found = DetectReuse.of(settings).find(pages, labels, candidates)
            tables |= found.tables
            values |= found.values
        return Found(tables, values)
