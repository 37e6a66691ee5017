"""What working processes are forked with: modules imported, the usual kernels loaded.

Imported by the process that workers are forked from, once; a worker that had to import and load
by itself would take two seconds longer.
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
