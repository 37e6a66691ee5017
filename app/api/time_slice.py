"""Time slice of the threads that answer requests: workers do not delay their wake-ups."""

import ctypes
import os
import platform
import sys

SLICE_NANOSECONDS = 200_000
"""Time slice of the threads that answer requests.

A thread that wakes up interrupts threads of longer slices at once.  Otherwise the thread waits
until their slices are over, for some milliseconds at each event.  Source: EEVDF of Linux 6.12.
"""

_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
"""Number of the system call by machine; older C libraries have no function for the call."""


class _Attributes(ctypes.Structure):
    """``struct sched_attr`` of Linux, version 0; see ``sched_setattr(2)``."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("slice", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def interrupt_workers() -> bool:
    """Let this thread, and threads that it starts, interrupt workers; return whether this is done.

    Linux before 6.12 accepts the slice without an effect.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if sys.platform != "linux" or number is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return False
    asked = _Attributes(
        size=ctypes.sizeof(_Attributes),
        policy=os.SCHED_OTHER,
        nice=os.getpriority(os.PRIO_PROCESS, 0),
        slice=SLICE_NANOSECONDS,
    )
    return ctypes.CDLL(None).syscall(number, 0, ctypes.byref(asked), 0) == 0
