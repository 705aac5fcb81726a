"""oql_views."""
