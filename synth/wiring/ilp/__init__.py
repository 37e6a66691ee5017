"""Integer programs of wiring and the objectives of a plan."""
