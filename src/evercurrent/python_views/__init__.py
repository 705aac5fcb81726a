"""python_views."""
