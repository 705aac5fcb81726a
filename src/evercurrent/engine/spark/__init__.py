"""The Spark engine: programs run over Spark, batch by batch, with durable state. Rooms import downwards only:

sources          tables that others write: their columns, and what has changed in them
intake           changes that users hand over as frames, Arrow tables or streams
own_sql          queries and views computed by Spark's own SQL
subtraction      the difference of stored rows and new ones, and a store without a part of it
engine           the engine: runs a program on the driver or by jobs, reads and merges stores
jobs             a program as DataFrame jobs, for fills and large changes
kernel           a program on the driver, for small changes
storage          files, segments, the log, and how they are read
translate        terms, types and values as Spark and Arrow have them
progress         what a long run is at, while it runs
private_session  the Spark session in which everything runs
job_progress     how far Spark has come with its running stages
"""
