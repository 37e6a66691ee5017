"""Optical switches that a plan is carried out on: the only place that logs in anywhere."""
