"""Heavy work: done in processes of its own, which can be limited and ended at any moment.

A piece of work is a value, the name of an operation and its request.  `operations` says what
there is, `child` is the process that does it, `distant` how it reads and keeps documents without
a database of its own, `crew` starts, serves and ends such processes, and `claims` sees to it that
no two of them compute the same document.
"""
