"""The graph type `Topology`, its validation, and conversions of it."""
