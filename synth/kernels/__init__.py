"""Compiled helpers, random numbers, and caches that many packages share."""
