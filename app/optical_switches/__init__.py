"""Optical switches: the only package that logs in to devices."""
