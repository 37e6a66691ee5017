"""schedule/1: JSON, read and written, and a compact binary form for databases."""
