"""The planted cases, a module each. A new one is added to CASES."""

from beam_reuse.demo.case import Case
from beam_reuse.demo.cases.leaked_test import LeakedTest
from beam_reuse.demo.cases.mirrored_guide import MirroredGuide
from beam_reuse.demo.cases.own_content import OwnContent
from beam_reuse.demo.cases.plain_copies import PlainCopies
from beam_reuse.demo.cases.quilt_mirror import QuiltMirror
from beam_reuse.demo.cases.scraped_news import ScrapedNews
from beam_reuse.demo.cases.similar_pages import SimilarPages
from beam_reuse.demo.cases.templates import SiteTemplate

CASES: tuple[Case, ...] = (
    LeakedTest(),
    MirroredGuide(),
    OwnContent(),
    PlainCopies(),
    QuiltMirror(),
    ScrapedNews(),
    SimilarPages(),
    SiteTemplate(),
)
