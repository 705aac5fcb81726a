"""Rows on their way into a warehouse: frames, Arrow tables and streams, checked before they count.

arrow_feeds      change feeds that come as Arrow tables, taken in a column at a time
constraint_jobs  which rows of changes too large for the driver violate which rule, by Spark jobs
frames           changes that come as frames
messages         messages of Kafka: rows in JSON or Avro, and envelopes of Debezium
scanned_files    large changes in plain Parquet files, which tasks read without Spark
screening        changes that cannot be taken in, told from those that can, before anything is cast for good
sorted_unique    whether the rows of a segment rise strictly in some columns
streams          structured Streaming as a source
task_intake      large changes by tasks: sorted pieces, then ranges of keys, validated and written at once
"""
