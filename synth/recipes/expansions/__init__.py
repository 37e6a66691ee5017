"""Operators that build larger topologies from smaller ones: theorem, claim, construction.

Every module has three functions: ``traits`` (properties of the result, without construction),
``claim`` (its cost by a theorem) and ``links`` (the construction on arrays).
"""
