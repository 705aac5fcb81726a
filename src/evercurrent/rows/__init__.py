"""Rows in and out, whichever database keeps them: reading, checking, storing, exporting, notifying.

arguments      what users pass to methods, checked where a mistake would otherwise show deep inside
arrow_rows     Arrow tables of few rows as stored rows, a column at a time
awaiting       changes for asyncio: coroutines as subscribers, streams of changes
collecting     takes changes down for a reader on another thread
constraints    validates the net change of a transaction
conversion     rows as users write them and read them
export         rows as Arrow tables, pandas and polars frames, typed as the columns are
familiar_names  names that users of other databases type first, and what they are called here
files          files of rows: Parquet, CSV, JSON
importing      data of other libraries as rows, with the types of their columns
locate         which stored row a user means
patch          a change of a dictionary that can be applied and undone, each as often as needed
pending        what a transaction has changed in one table so far
readable       what tables, views and results of queries have in common
readers        many rows at once
results        what a statement returns
row_rules      what every single row of a table must satisfy
secondary_index  the rows of a table by the columns of CREATE INDEX
store          the rows of one table, as committed, with what its constraints look up
subscriptions  notifies subscribers of changes
violations     which rows of a change violate which rule, and the error that reports it
"""
