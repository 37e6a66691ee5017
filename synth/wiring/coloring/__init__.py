"""Edge colorings of graphs, near to preferred colors."""
