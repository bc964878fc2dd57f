"""What analyses say of themselves is complete, and others follow it."""

import re
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

import beam_reuse
from beam_reuse.declaring.about import About, loaded
from beam_reuse.declaring.kinds import WHOLE
from beam_reuse.declaring.option import option
from beam_reuse.declaring.registry import built_in, known
from beam_reuse.io.results.tables import COMMON, SCHEMAS, no_table
from beam_reuse.pages.analysis import Analysis

ABOUTS = built_in()


@dataclass(frozen=True)
class _Settings:
    least: int = 1


def folder_of(about: About) -> Path:
    module = about.transform.partition(":")[0].split(".")
    return Path(beam_reuse.__file__).parents[1].joinpath(*module[:-1])


@pytest.mark.parametrize("about", ABOUTS, ids=lambda about: about.name)
def test_all_that_is_named_exists(about: About) -> None:
    assert issubclass(loaded(about.transform), Analysis)
    assert callable(loaded(about.findings)) and about.question and about.help
    assert all(SCHEMAS[schema.name] is schema for schema in about.schemas())
    given = {option.setting.removeprefix(f"{about.field}.") for option in about.options}
    assert given == {field.name for field in fields(about.settings)}, "a field without an option"


@pytest.mark.parametrize("about", ABOUTS, ids=lambda about: about.name)
def test_all_that_is_counted_is_declared(about: About) -> None:
    text = "".join(path.read_text() for path in folder_of(about).glob("*.py"))
    for name in re.findall(r'Count\("([\w-]+)"', text):
        assert any(name.startswith(start) for start in about.counts), name


def test_tables_are_known_by_name_and_by_who_writes_them() -> None:
    assert beam_reuse.tables.QUILTS is SCHEMAS["quilts"]
    with pytest.raises(AttributeError, match="no attribute 'QUILT'"):
        _ = beam_reuse.tables.QUILT
    assert len(SCHEMAS) == len(COMMON) + sum(len(about.schemas()) for about in known().values())
    assert no_table("r", "keep", ["pages"]) == (
        "r has no table 'keep'; it has pages. Run again with --analyses near-duplicates.")
    assert no_table("r", "sheep", ["pages"]) == "r has no table 'sheep'; it has pages."


def test_an_option_gives_a_field_that_is_there() -> None:
    about = About("some-thing", _Settings, "a:A", "a:T", options=(
        option("at-least", WHOLE, "so many", "least"),))
    (complete,) = about.options
    assert (complete.group, complete.setting) == ("some-thing", "some_thing.least")
    with pytest.raises(ValueError, match=r"--most: _Settings has no field 'most'"):
        About("some-thing", _Settings, "a:A", "a:T", options=(option("most", WHOLE, "many"),))
