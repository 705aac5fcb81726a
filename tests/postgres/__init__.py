"""Sources in PostgreSQL, against a server of its own that the tests start."""
