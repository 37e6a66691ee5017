"""Worker pool: runs heavy work in processes with limits, which can be ended at any moment.

A task is the name of an operation and its request.  `operations` is the table of operations,
`worker_process` the process that runs a task, and `store_proxy` its access to documents without a
database.  `pool` starts, serves and ends such processes; `claims` keeps two of them from computing
the same document.
"""
