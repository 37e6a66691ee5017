"""Collectives, schedules and transcripts: values that all other packages share."""
