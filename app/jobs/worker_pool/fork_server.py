"""The fork server: a process, started early, that imports the modules of all workers."""

import multiprocessing
import signal
from multiprocessing.context import ForkServerContext

PRELOADED = ["topoloom.app.jobs.worker_pool.preload"]
"""Modules that every worker has from its first moment."""


def prepare() -> ForkServerContext:
    """Start the fork server, which imports the modules of workers; return at once.

    A call before the imports of this process lets both processes import at the same time.
    """
    from multiprocessing.forkserver import ensure_running

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    # This process ends the fork server and the workers.  A signal to the process group would
    # otherwise end them first, and their work would count as failed.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context
