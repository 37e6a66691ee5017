"""Chakra execution traces: what each rank sends, receives and adds, for simulators."""
