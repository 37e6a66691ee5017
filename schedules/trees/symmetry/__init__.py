"""Automorphisms of a network, rank orders, and forests built from them."""
