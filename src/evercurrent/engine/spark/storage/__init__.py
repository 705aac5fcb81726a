"""What lies in a warehouse, and how it is read: files, log, segments, sort orders, mapped copies, checksums.

batch_index   which batch became which version, for many versions in one file
checksums     checksums of files by blocks, so that reading a part checks only that part
delta         commits to Delta tables, with their change feed, and merges into tables of others
delta_tables  views published as Delta tables, for every tool that reads them
digests       one number for a whole row, the same from Spark and from the driver
disk          the one class through which a warehouse reaches its files
documents     the documents of the log, with their digests
file_cache    immutable files of an object store on the local disk, whole or in parts
entry_reader  entries of stores by key, read by the driver without a job
file_schema   the columns that files of relations and states have
files         the folder of a warehouse, and segments in it
manifests     what keeps the log small: checkpoints of snapshots, archives of entries
log           the commit log: versions, snapshots and entries
lookup        reading only the row groups of a file that can hold the wanted keys
hadoop        a warehouse on a file system of Hadoop, through the session
object_disk   a warehouse in an object store
places        where a warehouse is: a path, or an address in an object store
mapped_copy   a copy of a sorted file from which single rows are read
merge_policy  which segments of a store are merged, and when
remote_frames  frames from files of an object store, and files from frames, by tasks
segments      results of Spark jobs, written as segments
snapshots     what a version consists of, and what an entry of the log says
sort_order    by which columns a store's files are sorted
store_names   names of stores, and how they are spelled on disk
stored_state  a store at one version, and its contents within a transaction
user_frames   stored rows as frames for users
wanted        the values that are asked for in one column
"""
