"""Tables that others write: what has changed in them since we last looked, as a Z-set.

changes     which columns a source has, and what has changed in it
delta       delta tables, read through their log
difference  rows of the files that came, minus rows of the files that went, minus what is held
feed        A Delta table's change feed
iceberg     iceberg tables, by the difference of two snapshots' files, through the package `pyiceberg`
nodes       what a source is, and what looking at it gives
parquet     folders of Parquet files, on any file system that the session reads
tables      tables of the session's catalog, whatever their format
"""
