"""Local files: reading, writing, archives, and the format of a file."""
