"""Answer documents: one module per kind, with models and conversions from domain values.

Packages below this package use no dicts.  A module has ``of(value) -> document``, the inverse if
stored answers are read again, and a `Kind` that defines the storage.
"""
