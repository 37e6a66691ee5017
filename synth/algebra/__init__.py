"""Finite groups, finite fields, and primes."""
