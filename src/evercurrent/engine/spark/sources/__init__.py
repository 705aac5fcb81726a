"""Tables that others write: what has changed in them since they were last read, as a Z-set.

changes     columns and changes of a source, whatever its format
delta       Delta tables, read through their log
difference  rows of new files, minus rows of removed files, minus stored rows
feed        the change feed of a Delta table
iceberg     Iceberg tables, by the difference of two snapshots' files, through the package `pyiceberg`
nodes       what a source is, and what reading it returns
parquet     folders of Parquet files, on any file system that the session reads
tables      tables of the session's catalog, whatever their format
"""
