"""Tests of many small cases that run as one: an item of pytest costs more than such a case."""

import inspect
import reprlib
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any


def for_every(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[..., Any]:
    """Run the decorated test once for every case, within one item.

    Args:
        names: The parameter of the test that takes the case, or one parameter for each of its
            members.
        cases: The cases.  The first that fails ends the test, and a note on its error names the
            case.
    """
    chosen = list(cases)
    parameters = (names,) if isinstance(names, str) else names

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(**fixtures: Any) -> None:
            assert chosen, f"no case of {names}"
            for case in chosen:
                members = (case,) if isinstance(names, str) else case
                given = dict(zip(parameters, members, strict=True))
                try:
                    test(**fixtures, **given)
                except BaseException as error:
                    error.add_note(f"case: {reprlib.repr(given)}")
                    raise

        # pytest requests the remaining parameters as fixtures.
        kept = [p for n, p in inspect.signature(test).parameters.items() if n not in parameters]
        run.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        return run

    return decorate
