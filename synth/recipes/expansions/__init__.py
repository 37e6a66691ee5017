"""Operators that make larger topologies of smaller ones: theorem, claim, construction.

Every module has three functions: ``traits`` (what is known of the result without building
it), ``claim`` (what a theorem says of its cost) and ``links`` (the construction on arrays).
"""
