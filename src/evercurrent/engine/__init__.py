"""Engines: what runs maintenance programs.

columnar  programs over columns, for large deltas and fills in every engine
live      inside the Python process: programs become Python source
spark     the Spark engine
"""
