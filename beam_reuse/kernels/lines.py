"""Values that pages have, such as lines, counted once for each page. Rows are in order of pages."""

import numpy as np

from beam_reuse.kernels.compiled import kernel


@kernel
def pages_of_each(
    numbers: np.ndarray, page: np.ndarray, names: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """For each number below `count`: on how many pages it is, and the smallest name of one, where
    `names[page]` is the name of a page."""
    pages = np.zeros(count, np.int64)
    smallest = np.zeros(count, np.int64)
    last = np.full(count, -1, np.int64)
    for i in range(len(numbers)):
        number, at = numbers[i], page[i]
        if last[number] == at:
            continue
        name = names[at]
        if pages[number] == 0 or name < smallest[number]:
            smallest[number] = name
        last[number] = at
        pages[number] += 1
    return pages, smallest


@kernel
def first_on_pages(numbers: np.ndarray, page: np.ndarray, count: int) -> np.ndarray:
    """The rows where a number below `count` is on its page for the first time; rows with negative
    numbers are left out."""
    last = np.full(count, -1, np.int64)
    out = np.empty(len(numbers), np.int64)
    found = 0
    for i in range(len(numbers)):
        number = numbers[i]
        if number >= 0 and last[number] != page[i]:
            last[number] = page[i]
            out[found] = i
            found += 1
    return out[:found].copy()
