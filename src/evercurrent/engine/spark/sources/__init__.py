"""Tables that others write: what has changed in them since we last looked, as a Z-set.

    nodes        a source, a file of it, and a change with the cursor that it leads to
    changes      one page of `match`: which columns a source has, what has changed in it
    delta        Delta tables: by change feed (`feed`) or by the difference of two versions' files
    parquet      folders of Parquet files, on any file system that the session reads
    iceberg      Iceberg tables, by the difference of two snapshots' files
    tables       tables of the session's catalog
    difference   rows of the files that came, minus rows of the files that went, minus what is held

Rows that were only rewritten are on both sides and cancel. Whatever cannot be read rightly is refused, with the reason.
"""
