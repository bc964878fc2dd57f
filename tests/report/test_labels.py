"""Labels of figures are short, and those of different things are different."""

from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.report.labels import short_labels

NAMES = st.lists(st.text("ab.", min_size=1, max_size=60), max_size=12)


@given(NAMES, st.integers(8, 40))
def test_they_fit_and_stay_different(names: list[str], most: int) -> None:
    labels = short_labels(names, most)
    assert len(labels) == len(names)
    assert all(len(label) <= most for label in labels)
    assert len(set(labels)) == len(set(names))
    assert all(label == name for name, label in zip(names, labels, strict=True)
               if len(name) <= most and "…" not in label)


def test_hosts_that_differ_in_the_middle_show_it() -> None:
    hosts = [f"documentation.of.the.project.{name}.mirror.hosting.example.org"
             for name in ("alpha", "beta", "gamma")]
    labels = short_labels(hosts, 36)
    assert all(name in label for name, label in zip(("alpha", "beta", "gamma"), labels,
                                                    strict=True))
