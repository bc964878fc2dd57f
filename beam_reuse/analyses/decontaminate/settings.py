"""What evaluation items are, and when a page holds one."""

from dataclasses import dataclass

from beam_reuse.core.settings import MOST_COUNTED, require

# Texts with fewer tokens are too short to be looked for.
LEAST_TOKENS = 8
LONGEST_GRAM = 255


@dataclass(frozen=True)
class DecontaminateSettings:
    """Evaluation files are those of `against`. Their rows have an id in the field `id`, and texts
    in `fields`; where these are not given they are found by usual names. A text has grams of
    `gram_size` tokens. A gram of more than `max_items_per_gram` items is a prompt, and does not
    count. A page is contaminated by an item of whose grams it has `min_share` or more.

    >>> DecontaminateSettings(against=("evals/mmlu.jsonl",), min_share=0.5).gram_size
    13
    """

    against: tuple[str, ...] = ()
    gram_size: int = 13
    min_share: float = 0.2
    id: str = ""
    fields: tuple[str, ...] = ()
    max_items_per_gram: int = 100

    def __post_init__(self) -> None:
        require(1 <= self.gram_size <= LONGEST_GRAM, "gram_size", self.gram_size,
                f"from 1 to {LONGEST_GRAM}")
        require(0 <= self.min_share <= 1, "min_share", self.min_share, "from 0 to 1")
        require(1 <= self.max_items_per_gram <= MOST_COUNTED, "max_items_per_gram",
                self.max_items_per_gram, "from 1 to 2**63 - 1")
        require(all(self.fields), "fields", self.fields, "a list of names")

    @property
    def least_tokens(self) -> int:
        """The tokens of the shortest text that is looked for, and of the head of a gram."""
        return min(LEAST_TOKENS, self.gram_size)
