"""Imports of the fork server: the modules of workers, and the usual kernels.

The fork server imports this module once; without it every worker would start two seconds later.
"""

import sys

from topoloom.app.jobs.worker_pool import worker_process
from topoloom.app.services import warm_kernels

__all__ = ["worker_process"]

if not warm_kernels.is_compiled():
    print(
        "topoloom: compiles its kernels for this machine, once; the first answers wait up to a "
        "minute for it (`topoloom warm` does the same beforehand)",
        file=sys.stderr,
        flush=True,
    )
warm_kernels.load()
