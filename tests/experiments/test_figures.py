"""Figures are really drawn, say what they show, and have the same bytes each time."""

import struct
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest

from beam_reuse.analyses.reuse.settings import DiscoverySettings
from beam_reuse.core.errors import UserError
from beam_reuse.experiments import figures, tables
from beam_reuse.experiments.inject import Injection
from beam_reuse.experiments.mutate import KnownChunks, Mutation, mutate
from beam_reuse.experiments.vectors import Background
from beam_reuse.io.figures import require_matplotlib
from tests.experiments import twins

SITE = twins.site_of(twins.random_pages(3))
Files = Iterator[tuple[str, bytes]]


def draw_inject() -> Files:
    rows = tables.inject_rows(
        SITE, Background.empty(SITE), [1, 5, 9], Injection(DiscoverySettings()))
    return figures.inject_figure(rows, "a site")


def draw_mutate(way: str) -> Files:
    known = {"expert": np.ones(9, np.bool_), "blind": np.arange(9) < 3}
    labels = {name: KnownChunks(mask, 10) for name, mask in known.items()}
    steps = mutate(SITE.chunks, labels, Mutation(way, (0, 2, 4, 9), 3, 0))
    mean = SITE.chunks.mean
    thresholds = {
        (level, name): tables.Threshold(Fraction(1, 5), "given")
        for level in ("page", "neighbourhood") for name in labels
    }
    return figures.mutate_figure(
        way, tables.mutate_rows(way, steps, mean),
        tables.tolerance_rows(way, steps, mean, thresholds), "a site")


def draw_thresholds() -> Files:
    rows = tables.threshold_rows("chunk", np.array([5, 0, 9]), np.array([7, 1]))
    return figures.thresholds_figure({"chunk": rows, "file": rows}, {"chunk": 10, "file": 12})


CASES: dict[str, tuple[Callable[[], Files], int]] = {
    "inject": (draw_inject, 1),
    "mutate-add": (lambda: draw_mutate("add"), 3),
    "mutate-delete": (lambda: draw_mutate("delete"), 3),
    "mutate-change": (lambda: draw_mutate("change"), 3),
    "thresholds": (draw_thresholds, 4),
}


@pytest.mark.parametrize("name", CASES)
def test_figures_are_drawn_alike_each_time(name: str) -> None:
    draw, panels = CASES[name]
    files = dict(draw())
    assert set(files) == {f"{name}.png", f"{name}.svg"}
    png = files[f"{name}.png"]
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == (690 * panels, 540)
    svg = ElementTree.fromstring(files[f"{name}.svg"])
    assert svg.tag.endswith("svg")
    drawn = [e.get("id") for e in svg.iter() if (e.get("id") or "").startswith("axes_")]
    assert len(drawn) == panels + (name == "mutate-delete")
    assert b"<dc:date>" not in files[f"{name}.svg"]
    assert dict(draw()) == files


def test_a_users_own_style_does_not_show() -> None:
    import matplotlib

    plain = dict(draw_inject())
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black"}):
        assert dict(draw_inject()) == plain
        assert matplotlib.rcParams["font.size"] == 30


def test_without_matplotlib_the_command_to_install_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_matplotlib()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"pip install '.\[figures\]'"):
        require_matplotlib()
