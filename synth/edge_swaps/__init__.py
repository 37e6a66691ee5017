"""Local search by edge swaps: shorten graphs, insert nodes, remove nodes."""
