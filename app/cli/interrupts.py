"""Interrupts that C code would lose."""

import _thread
import sys
from threading import Timer

__all__ = ["heed_lost_interrupts"]

AGAIN_SECONDS = 0.05


def heed_lost_interrupts() -> None:
    """Let an interrupt that arrives where it cannot be raised come again a moment later.

    In a callback from C code Python can only tell of an exception and go on. Loading compiled
    kernels is full of such callbacks, llvmlite's: of sixty Ctrl-C in its second two were lost.
    """
    others = sys.unraisablehook

    def heed(unraisable: "sys.UnraisableHookArgs") -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            others(unraisable)
            return
        again = Timer(AGAIN_SECONDS, _thread.interrupt_main)
        again.daemon = True
        again.start()

    sys.unraisablehook = heed
