"""Transforms that take or give more than one PCollection."""

import apache_beam as beam
from apache_beam.typehints.decorators import IOTypeHints


class Composite(beam.PTransform):
    """A transform from or to several PCollections, each of which has the type of its elements.

    Beam's checker takes the annotations of `expand` for types of elements, which those of several
    PCollections are not: the transform as a whole has none.
    """

    def default_type_hints(self) -> IOTypeHints:
        return IOTypeHints.empty()
