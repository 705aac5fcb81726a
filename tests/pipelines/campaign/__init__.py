"""Pipelines in the style of public tutorials, run by both runners over several batches of changes.

data          tables and files that the projects read, and how each batch changes them
projects      the projects: their files
spark_runner  Spark's own runner, in a process of its own
compare       both runners, batch by batch: same rows, and the times
scale         a medallion pipeline over many rows, by both runners
"""
