"""The database: documents, their index, and all other tables."""
