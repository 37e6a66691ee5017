"""Inventories that people keep in servers: NetBox."""
