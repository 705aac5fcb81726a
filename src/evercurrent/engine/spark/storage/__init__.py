"""What lies in a warehouse, and how it is read: files, log, segments, sort orders, mapped copies, checksums.

checksums     checksums of files, by blocks, so that who reads a part checks a part
delta_tables  views as ordinary Delta tables, for every tool that reads them
digests       one number for a whole row, the same from Spark and from the driver
disk          every access of a warehouse to its files goes through a `Disk`
documents     the documents of the log
entry_reader  entries of stores, by key, read by the driver without a job
file_schema   how rows of relations and entries of states lie in files
files         the folder of a warehouse
log           the one commit point
lookup        reading of a file only what can hold certain keys
mapped_copy   A copy of a sorted file from which single rows can be read
merge_policy  which segments of a store are merged, and when
segments      results of Spark, made into segments
sort_order    by which columns a store's files are sorted
store_names   names of stores, and how they are spelled on disk
stored_state  the contents of a state within a transaction
user_frames   stored rows as frames for users
"""
