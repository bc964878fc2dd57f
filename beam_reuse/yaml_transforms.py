"""The transforms as Beam YAML knows them: options by name go in, rows of tables come out.

They follow from what analyses declare. `provider.yaml` beside this module lists them for a
pipeline's `providers`; `make docs` writes it.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import apache_beam as beam
from apache_beam.typehints.row_type import RowTypeConstraint

from beam_reuse.core.errors import UserError
from beam_reuse.core.features import FeatureSettings
from beam_reuse.declaring.about import About, loaded
from beam_reuse.declaring.kinds import SHARE, WHOLE
from beam_reuse.declaring.option import Option
from beam_reuse.declaring.registry import known
from beam_reuse.declaring.settings import Settings
from beam_reuse.options.table import OPTIONS
from beam_reuse.options.values import settings_from, typed
from beam_reuse.pages import list_pages, read_pages
from beam_reuse.pages.as_rows import AsRows

# What a PCollection of pages says of itself: the PagesRead that it is of.
_READ = "beam_reuse_read"
_NUMBERS = RowTypeConstraint.from_fields(
    [("name", str), ("number", float)], schema_id="beam_reuse_numbers")


class Reading(beam.PTransform):
    """Crawl files -> `pages`, which is for the other transforms alone, and rows of `rejects`,
    `skipped`, `depth_histogram` and `counts`."""

    def __init__(self, inputs: str | Sequence[str], values: Mapping[str, Any]) -> None:
        super().__init__(label="ReadPages")
        if not inputs:
            raise UserError("ReadPages needs inputs: a path, or a list of paths.")
        settings = settings_from(values)
        self.reading = read_pages.ReadPages(
            inputs, settings.read, FeatureSettings(settings.chunks, text=True))

    def expand(self, begin: beam.pvalue.PBegin) -> dict[str, beam.PCollection]:
        read = begin | self.reading
        setattr(read.parts, _READ, read)
        names = ("rejects", "skipped", "depth_histogram")
        return {"pages": read.parts, "counts": _numbers(read.counts, "counts"),
                **{name: getattr(read, name) | AsRows(name) for name in names}}


class ListPages(beam.PTransform):
    """Pages -> rows of the table `pages`."""

    def expand(self, pages: beam.PCollection) -> beam.PCollection:
        return _read(pages, "ListPages") | list_pages.ListPages() | AsRows("pages")


class Analysing(beam.PTransform):
    """Pages -> rows of each of these tables of an analysis, `counts` and `values`."""

    def __init__(self, name: str, settings: Settings, transform: str,
                 tables: Sequence[str]) -> None:
        super().__init__(label=name)
        self.name, self.settings, self.transform, self.tables = name, settings, transform, tables

    def expand(self, pages: beam.PCollection) -> dict[str, beam.PCollection]:
        read = _read(pages, self.name)
        found = read | loaded(self.transform).of(
            replace(self.settings, chunks=read.features.chunks))
        rows = {name: found | AsRows(name) for name in self.tables if name in found}
        return rows | {name: _numbers(found[name], name) for name in ("counts", "values")}


def _read(pages: beam.PCollection, name: str) -> read_pages.PagesRead:
    """The pages of a PCollection that a ReadPages gave."""
    read: read_pages.PagesRead | None = getattr(pages, _READ, None)
    if read is None:
        raise UserError(f"{name} takes the output `pages` of ReadPages, as it is. Write "
                        "`input: NAME.pages`, with the name of that transform.")
    return read


def _numbers(pairs: beam.PCollection, name: str) -> beam.PCollection:
    return pairs | f"Rows of {name}" >> beam.MapTuple(
        lambda name, number: beam.Row(name=name, number=float(number))).with_output_types(_NUMBERS)


@cache
def constructors() -> dict[str, Callable[..., beam.PTransform]]:
    """What makes each transform of its config, by the name that YAML has for it."""
    found = {
        "ReadPages": _constructor("ReadPages", Reading, _read_options(), inputs=Any),
        "ListPages": ListPages}
    groups: dict[str, list[About]] = {}
    for about in known().values():
        if about.is_asked_for or about.command == "decontaminate":
            groups.setdefault(about.transform, []).append(about)
    for transform, abouts in groups.items():
        name = transform.rpartition(":")[2]
        found[name] = _constructor(name, _analyse(name, transform, abouts), _options_of(abouts),
                                   tables=Sequence[str] | None)
    return found


def _analyse(
    name: str, transform: str, abouts: Sequence[About],
) -> Callable[..., beam.PTransform]:
    command, asked = abouts[0].command, tuple(about.name for about in abouts)
    every = [schema.name for about in abouts for schema in about.schemas()]

    def make(tables: Sequence[str] | None, values: Mapping[str, Any]) -> beam.PTransform:
        for table in tables or ():
            if table not in every:
                raise UserError(f"{name} has no table {table!r}; it has {', '.join(every)}.")
        settings = replace(settings_from(values, command), analyses=asked)
        return Analysing(name, settings, transform, every if tables is None else tables)

    return make


def _read_options() -> list[Option]:
    return [each for each in OPTIONS if each.setting.startswith(("read.", "chunks."))]


def _options_of(abouts: Iterable[About]) -> Iterator[Option]:
    """Options of analyses; those of chunks that cut no page belong to the ones that count them."""
    fields = {about.field for about in abouts}
    for each in OPTIONS:
        field = each.setting.partition(".")[0]
        if field in fields or (field == "stops" and fields & {"discovery", "detection"}):
            yield each


def _constructor(
    name: str, make: Callable[..., beam.PTransform], options: Iterable[Option], **first: Any,
) -> Callable[..., beam.PTransform]:
    """A function with the parameters `first` and one for each option, for Beam to look at."""
    by_key = {each.name.replace("-", "_"): each for each in options}

    def construct(**given: Any) -> beam.PTransform:
        for key in given:
            if key not in by_key and key not in first:
                raise UserError(
                    f"{name} has no option {key!r}; it has {', '.join((*first, *by_key))}.")
        values = {by_key[key].name: by_key[key].read(typed(by_key[key], value))
                  for key, value in given.items() if key in by_key and value is not None}
        return make(*(given.get(key) for key in first), values)

    kinds = first | {key: _annotation(each) for key, each in by_key.items()}
    construct.__name__ = name
    construct.__doc__ = f"{name}.\n\nArgs:\n" + "\n".join(
        f"  {key}: {each.help}" for key, each in by_key.items())
    construct.__signature__ = inspect.Signature([  # type: ignore[attr-defined]
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for key, kind in kinds.items()])
    return construct


def _annotation(option: Option) -> Any:
    """The type that YAML may check a value for; of most kinds it may be one of several."""
    kind = bool if option.is_flag else {WHOLE: int, SHARE: float}.get(option.kind)
    return Any if kind is None else kind | None


def provider() -> str:
    """The content of provider.yaml."""
    lines = (f"    {name}: beam_reuse.yaml_transforms.{name}" for name in constructors())
    return "\n".join((
        "# What `providers` of a Beam YAML pipeline include. This file is made by `make docs`.",
        "- type: python", "  config: {}", "  transforms:", *lines, ""))


def __getattr__(name: str) -> Any:
    if name in constructors():
        return constructors()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
