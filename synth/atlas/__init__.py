"""The bundled atlas of discovered topologies and its file format."""
