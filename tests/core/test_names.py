"""Tables of element names against a dict."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.kernels.element_names import key_of, name_table, slot_of
from beam_reuse.kernels.html import NAMES, VOID, element_flags

WORDS = st.text("abc123", min_size=1, max_size=8)


@given(st.dictionaries(st.sampled_from([1, 2, 4, 8]), st.lists(WORDS, max_size=200)),
       st.lists(WORDS, max_size=20))
def test_every_name_has_its_flags_and_no_other_name_has_any(
    named: dict[int, list[str]], others: list[str]
) -> None:
    keys, flags = name_table({flag: " ".join(names) for flag, names in named.items()}, {})
    for name in [*others, *(name for names in named.values() for name in names)]:
        expected = sum(flag for flag, names in named.items() if name in names)
        assert flags[slot_of(keys, np.uint64(key_of(name)))] == expected


def test_a_name_may_have_a_key_of_its_own() -> None:
    keys, flags = name_table({1: "plaintext p", 2: "plaintext"}, {"plaintext": 1})
    assert flags[slot_of(keys, np.uint64(1))] == 3
    assert flags[slot_of(keys, np.uint64(key_of("plaintext")))] == 0
    assert flags[slot_of(keys, np.uint64(key_of("p")))] == 1


def test_elements_of_html() -> None:
    for name in NAMES[VOID].split():
        assert element_flags(np.uint64(key_of(name))) & VOID
    assert element_flags(np.uint64(key_of("div"))) == 0
