"""Schedules in the formats that people and run times read; no generator is imported."""
