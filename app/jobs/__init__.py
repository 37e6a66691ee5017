"""Durable jobs: asked for once, carried out by whoever is there, ended exactly once.

`port` is what the rest of the house uses.  Behind it `ledger` says what is true of every job
(rows of our own, every change of state guarded), `carrier` hands jobs to workers (DBOS
Transact, the only module that knows it), `worker` carries them out.
"""
