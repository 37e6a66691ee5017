"""Load stored kernels without Numba's compiler, once a command imports Numba.

Most commands that only look up never import Numba, which takes 0.2 s of CPU time.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType


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
                from topoloom.synth.kernels.numba_cache import load_alone

                load_alone()

            spec.loader.exec_module = load
        return spec


def load_kernels_alone() -> None:
    """Call `synth.kernels.numba_cache.load_alone` in this process when Numba is imported."""
    sys.meta_path.insert(0, _Numba())
