"""Catalogs of other systems, through the session. Those of Iceberg are in `tests/iceberg_engine`.

hive       a program with a session of Hive: tables in several formats as sources, a pipeline whose tables are in Hive
test_hive  what that program has seen
"""
