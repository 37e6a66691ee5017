"""The process that workers are forked from: started early, it imports all that they need."""

import multiprocessing
import signal
from multiprocessing.context import ForkServerContext

PRELOADED = ["topoloom.app.jobs.worker_pool.preload"]
"""Modules that every worker has from its first moment."""


def prepare() -> ForkServerContext:
    """Begin to import what workers need, in a process of its own; returns at once.

    May be called before this process has imported anything itself: both then import at a time.
    """
    from multiprocessing.forkserver import ensure_running

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    # That process and the workers are ended by this one: a signal to the whole group would else
    # end them before this process has heard of it, and their work would count as failed.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context
