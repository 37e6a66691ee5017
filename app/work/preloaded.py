"""What working processes are forked with: modules imported, the usual kernels loaded.

Imported by the process that workers are forked from, once; a worker that had to import and load
by itself would take two seconds longer.
"""

from app.services import warming
from app.work import child

__all__ = ["child"]

warming.load()
