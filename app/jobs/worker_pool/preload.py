"""Imports of the fork server: the modules of workers, and the usual kernels.

The fork server imports this module once; without it every worker would start two seconds later.
Workers inherit the configuration of logs.
"""

import logging

from topoloom.app.config import Settings
from topoloom.app.jobs.worker_pool import worker_process
from topoloom.app.observability import logs
from topoloom.app.services import warm_kernels

__all__ = ["worker_process"]

logs.configure(Settings().log_format)
if not warm_kernels.is_compiled():
    logging.getLogger(__name__).warning(
        "topoloom compiles its kernels for this machine, once; the first answers wait up to a "
        "minute for it (`topoloom cache warm` does the same beforehand)"
    )
warm_kernels.load()
