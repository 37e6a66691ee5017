"""Answers as they travel: one module a kind, each with its model, made from domain values.

Below this package no value is a dict.  A module has ``of(value) -> document`` and, where
stored answers are read again, the way back; its `Kind` says how the store keeps it.
"""
