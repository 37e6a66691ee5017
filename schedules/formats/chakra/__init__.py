"""Chakra execution traces: the sends, receives and additions of each rank, for simulators."""
