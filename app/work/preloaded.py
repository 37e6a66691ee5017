"""What working processes are forked with: modules imported, the usual kernels loaded.

Imported by the process that workers are forked from, once; a worker that had to import and load
by itself would take two seconds longer.
"""

import sys

from app.services import warming
from app.work import child

__all__ = ["child"]

if not warming.is_compiled():
    print(
        "topoloom: compiles its kernels for this machine, once; the first answers wait up to a "
        "minute for it (`topoloom warm` does the same beforehand)",
        file=sys.stderr,
        flush=True,
    )
warming.load()
