"""Load stored kernels without Numba's compiler, and report the kernels that it compiles.

Both begin when a command imports Numba.  Most commands that only look up never import Numba, which
takes 0.2 s of CPU time.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numba.core.event import Listener

_reports: list[Callable[[], None]] = []
"""Functions to call when Numba compiles a kernel; it compiles those that its cache lacks."""


class _Numba:
    """A finder of Numba alone that hands over to the usual finders."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the usual place of Numba; a later import takes the usual way."""
        if name != "numba":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            usual = spec.loader.exec_module

            def load(module: ModuleType) -> None:
                usual(module)
                from numba.core import event

                from topoloom.synth.kernels.numba_cache import load_alone

                load_alone()
                event.register("numba:compile", _listener())

            spec.loader.exec_module = load
        return spec


def _listener() -> "Listener":
    """Return a listener of Numba that passes on the begin of every compilation."""
    from numba.core.event import Event, Listener

    class Compilations(Listener):
        def on_start(self, event: Event) -> None:
            for report in _reports:
                report()

        def on_end(self, event: Event) -> None:
            pass

    return Compilations()


@contextmanager
def compilations_reported(report: Callable[[], None]) -> Iterator[None]:
    """Call ``report`` in this block when the compilation of a kernel begins, in any thread."""
    _reports.append(report)
    try:
        yield
    finally:
        _reports.remove(report)


def prepare_kernels() -> None:
    """Prepare the loading of kernels in this process for the time when Numba is imported."""
    sys.meta_path.insert(0, _Numba())
