"""Numbers and text as people read them."""


def megabytes(size: float) -> str:
    """A size for people: three digits are enough."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size:.0f} B"


def printable(text: str) -> str:
    """Text for a terminal, with blanks for characters that cannot be seen, or turn others."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def counted(number: int, what: str) -> str:
    """`1 host`, `2 hosts`, `1,000 hosts`."""
    return f"{number:,} {what}" + ("s" if number != 1 else "")


def percent(share: float, digits: int = 0) -> str:
    """A share in per cent; what is not all or nothing does not become 100% or 0% by rounding."""
    text = f"{share:.{digits}%}"
    if text == f"{0:.{digits}%}" and share > 0:
        return f"under {10 ** -(digits + 2):.{digits}%}"
    if text == f"{1:.{digits}%}" and share < 1:
        return f"over {1 - 10 ** -(digits + 2):.{digits}%}"
    return text
