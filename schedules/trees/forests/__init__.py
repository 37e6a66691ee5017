"""Forests of a topology at a given rate or height."""
