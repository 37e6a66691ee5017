"""Certificates: proofs of the cost of a graph, for independent checkers."""
