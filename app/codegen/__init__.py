"""Developer tools that generate client types and reference tables."""
