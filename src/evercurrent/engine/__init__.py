"""Engines: what runs maintenance programs.

live   inside the Python process: programs become Python source
spark  the Spark engine
"""
