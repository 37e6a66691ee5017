"""Certificates: what a frontier claims of a graph, so that another program can check it."""
