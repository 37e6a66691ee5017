"""Fabrics as files of network simulators: ASTRA-sim, ns-3, SimAI, htsim, Phantora, InfraGraph."""
