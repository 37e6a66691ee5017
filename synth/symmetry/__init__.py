"""Automorphisms of topologies that are known from their recipes."""
