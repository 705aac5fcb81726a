"""own_sql."""
