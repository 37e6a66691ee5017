"""Redelivery of interrupts that arrive in callbacks from C code."""

import _thread
import sys
from threading import Timer

AGAIN_SECONDS = 0.05


def redeliver_interrupts() -> None:
    """Install a hook that raises a KeyboardInterrupt again if Python cannot propagate it.

    Python reports exceptions in callbacks from C code and discards them.  llvmlite runs such
    callbacks while it loads compiled kernels: without the hook, 2 of 60 Ctrl-C were lost there.
    """
    default_hook = sys.unraisablehook

    def redeliver(unraisable: "sys.UnraisableHookArgs") -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            default_hook(unraisable)
            return
        timer = Timer(AGAIN_SECONDS, _thread.interrupt_main)
        timer.daemon = True
        timer.start()

    sys.unraisablehook = redeliver
