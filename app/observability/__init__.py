"""Logs, metrics, traces and the request log."""
