"""Tables that others write: what has changed in them since they were last read, as a Z-set.

arrow_pieces      rows of data files by Arrow: in the driver, and in tasks
changes           columns and changes of a source, whatever its format
deletion_vectors  which rows of a data file are deleted, by their positions
delta             Delta tables, read through their log
delta_log         the log of a Delta table: the files of a version, and what a commit has changed
difference        rows of new files, minus rows of removed files, minus stored rows
feed              the change feed of a Delta table
file_difference   what two versions of a table differ in, by their files and what is deleted in them
files             folders of JSON, CSV and other files that Spark reads by a format
iceberg           Iceberg tables, by the difference of two snapshots' files, through the package `pyiceberg`
iceberg_deletes   which rows of a data file the delete files of Iceberg delete
nodes             what a source is, and what reading it returns
origins           texts that say where the rows of a source are, at a version
parquet           folders of Parquet files, on any file system that the session reads
pieces            rows of data files by Spark, as a version of a table says
places            the disk on which a source lies
reading           pieces of files become a segment
references        rows of sources, read where they are
rewritten         rows of files that were written again, without those that were only copied
session_tables    tables that the session reads by a reader of its own, as of a version
tables            tables of the session's catalog, whatever their format
"""
