"""The colours of patches, read from the viewer's style."""

import re
from importlib import resources

import pytest

from tests.viewer.colours import VISIONS, contrast, least_difference

STYLE = resources.files("beam_reuse.viewer").joinpath("static", "viewer.css").read_text()
LIGHT, DARK = re.findall(r"^ *:root \{([^}]*)\}", STYLE, re.MULTILINE)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_patches_differ_for_who_does_not_see_all_colours(theme: str) -> None:
    named = dict(re.findall(r"--([\w]+): (#\w{6})", theme))
    patches = [named[f"p{n}"] for n in range(8)]
    for vision in VISIONS.values():
        assert least_difference(patches, vision) > 15
        assert all(least_difference([each, named["card"]], vision) > 9 for each in patches)
    assert all(contrast(each, named["ink"]) > 4.5 for each in patches)
