"""InfraGraph: devices, instances and edges of an infrastructure, read and written."""
