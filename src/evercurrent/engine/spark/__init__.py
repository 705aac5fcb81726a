"""The Spark engine: programs run over Spark, batch by batch, with durable state. Rooms import downwards only:

declarative      pipelines of Spark: definitions, analysed plans as text, and what Spark runs itself
sources          tables that others write: their columns, and what has changed in them
intake           changes that users hand over as frames, Arrow tables or streams
own_sql          queries and views computed by Spark's own SQL
rearranged_rows  the rows of a store in other columns
subtraction      the difference of stored rows and new ones, and a store without a part of it
engine           the engine: runs a program on the driver, by tasks or by jobs, reads and merges stores
tasks            a program over partitions, run by tasks of the executors, for large changes
jobs             a program as DataFrame jobs, for fills and what tasks do not serve
kernel           a program on the driver, for small changes
storage          files, segments, the log, and how they are read
translate        terms, types and values as Spark and Arrow have them
progress         what a long run is at, while it runs
private_session  the Spark session in which everything runs
failures         errors of Spark and of the file system, told as ours
doors            what is asked of a session beside frames and SQL: in this process, or over Spark Connect
"""
