"""Numbers and ranges of numbers as text: 16, 16:32, 16:32:4."""

import re

NUMBER_RANGE = re.compile(r"^[0-9]{1,7}((:[0-9]{1,7}){0,2}|-[0-9]{1,7})$", re.ASCII)
"""A number, FROM:TO or FROM:TO:STEP; FROM-TO is another spelling of FROM:TO."""


def numbers_of_range(entry: object) -> range:
    """Return the numbers of a number or text; a range includes its end.

    Raises:
        ValueError: The entry is neither a number nor a range, or the range has no numbers.

    >>> [list(numbers_of_range(entry)) for entry in ("8:20:4", 7, "16-18")]
    [[8, 12, 16, 20], [7], [16, 17, 18]]
    """
    text = str(entry) if isinstance(entry, int) and not isinstance(entry, bool) else entry
    if not isinstance(text, str) or NUMBER_RANGE.fullmatch(text) is None:
        raise ValueError("must be numbers, or inclusive ranges FROM:TO or FROM:TO:STEP")
    first, *more = map(int, re.split("[:-]", text))
    last, step = (*more, 1)[:2] if more else (first, 1)
    if step == 0:
        raise ValueError("must have a STEP of at least 1")
    if last < first:
        raise ValueError(f"must increase from FROM to TO; got {text}")
    return range(first, last + 1, step)
