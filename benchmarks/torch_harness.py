"""PyTorch's own tests of back ends, which the PyTorch wheel installs, for two back ends.

`DistributedTest` of `torch.testing._internal.distributed` asks for gloo, by which it chooses the
tests and branches that apply.  `TopoloomTests` starts the back end "topoloom" where it asks for
gloo.  It needs the package `expecttest`, and sees no GPUs: it wants one for each rank.
"""

import logging
import multiprocessing
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

RANKS = int(os.environ.get("WORLD_SIZE", 4))
"""Processes of a test; some tests need eight."""

FIXED = {
    "BACKEND": "gloo",
    "CUDA_VISIBLE_DEVICES": "",
    "DISTRIBUTED_TESTS_DEFAULT_TIMEOUT": "600",
    "GLOO_SOCKET_IFNAME": "lo",
    "MASTER_ADDR": "127.0.0.1",
    "OMP_NUM_THREADS": "1",
    "TOPOLOOM_DESIGN": f"Complete({RANKS})",
    "WORLD_SIZE": str(RANKS),
}
"""Environment of all processes; the harness reads it when it is imported."""

LIMIT_SECONDS = 300
"""Time limit of collectives and barriers; a busy machine exceeds the harness's 60 s and 10 s."""

os.environ |= FIXED
harness: Any = import_module("torch.testing._internal.distributed.distributed_test")
harness.default_pg_timeout = LIMIT_SECONDS
import_module("topoloom.torch")

logging.getLogger("torch.testing._internal.common_distributed").setLevel(logging.ERROR)

# Forks of a server without threads start in a fraction of the time that PyTorch's import takes.
FORKS = multiprocessing.get_context("forkserver")
_BACKEND = "topoloom.schedules.torch_backend"
FORKS.set_forkserver_preload(
    [__name__, f"{_BACKEND}.scheduled_group", f"{_BACKEND}.design_schedules"]
)


class BackendTests(harness.TestDistBackend, harness.DistributedTest._DistTestBase):
    """PyTorch's tests of gloo, in forked processes."""

    def setUp(self) -> None:
        """Start the ranks of one test."""
        super().setUp()
        # The server's environment is older than the folder of this test.
        own = {name: os.environ[name] for name in ("TEMP_DIR", "INIT_METHOD")}

        def process(*, target: Any, name: str, args: tuple[Any, ...], kwargs: Any) -> Any:
            arguments = own, target, args, kwargs
            return FORKS.Process(target=_rank, name=name, args=arguments)

        self._start_processes(process)

    def _barrier(self, *arguments: Any, **options: Any) -> None:
        super()._barrier(*arguments, **options | {"timeout": LIMIT_SECONDS})


class TopoloomTests(BackendTests):
    """The same tests, where "gloo" starts the back end "topoloom"."""

    @classmethod
    def _run(cls, *arguments: Any, **options: Any) -> None:
        for name in ("init_process_group", "new_group"):
            setattr(harness.dist, name, _on_topoloom(getattr(harness.dist, name)))
        super()._run(*arguments, **options)


TESTS = {"gloo": BackendTests, "topoloom": TopoloomTests}


def _on_topoloom(start: Callable[..., Any]) -> Callable[..., Any]:
    def started(*arguments: Any, **options: Any) -> Any:
        if options.get("backend") == "gloo":
            options["backend"] = "topoloom"
        return start(*arguments, **options)

    return started


def _rank(
    own: dict[str, str],
    target: Callable[..., None],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> None:
    os.environ |= own
    target(*arguments, **options)
