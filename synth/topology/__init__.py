"""The graph type `Topology`, its validation, and its conversions."""
