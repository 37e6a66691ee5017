"""Automorphisms of topologies, derived from their recipes."""
