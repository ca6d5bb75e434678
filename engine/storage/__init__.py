"""Files, rows and indexes: the only code that touches SQLite and markdown files."""
