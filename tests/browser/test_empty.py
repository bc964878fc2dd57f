"""The viewer of results with next to nothing in them."""

from pathlib import Path

import pytest

from beam_reuse.cli.main import main
from tests.browser.conftest import visiting
from tests.browser.visiting import nothing_happened

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("options", [[], ["--analyses", "quilts"], ["--analyses", "boilerplate"]])
def test_no_screen_fails_where_nothing_was_found(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "a.html").write_text("<p>One page and nothing else")
    assert main(["run", str(tmp_path / "crawl"), "-o", str(tmp_path / "r"), "--workers", "1",
                 *options]) == 0
    for visitor, _ in visiting(str(tmp_path / "r")):
        for hash in ("#/", "#/passages", "#/sites", "#/pages", "#/pairs", "#/quilts",
                     "#/families", "#/records", "#/tables"):
            visitor.go(hash)
            assert not visitor.run("!!document.querySelector('.error')"), hash
            assert "undefined" not in visitor.text(), hash
        nothing_happened(visitor)
