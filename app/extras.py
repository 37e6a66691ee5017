"""Packages that only some commands need, and what to install when one is missing."""

from importlib.util import find_spec


class MissingExtra(RuntimeError):
    """A command needs a package that an optional extra of Topoloom brings."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"needs {package}: pip install 'topoloom[{extra}]'")


def require_extra(package: str, extra: str) -> None:
    """Raise `MissingExtra` unless the package of an extra is installed.

    >>> require_extra("weave", "looms")
    Traceback (most recent call last):
    ...
    topoloom.app.extras.MissingExtra: needs weave: pip install 'topoloom[looms]'
    """
    if find_spec(package) is None:
        raise MissingExtra(package, extra)
