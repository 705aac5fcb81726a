"""A warehouse on a file system of Hadoop, which Spark has a connector for.

disk    the files, through the session
frames  files from frames: Spark writes, tasks take the checksums
"""
