"""Warehouses on file systems of Hadoop, through the session.

exercise      what a warehouse must do on any of them
hdfs          the same on a small cluster of HDFS in this process
test_files    on Hadoop's local file system, in every run
test_hdfs     on HDFS, where `make test-hdfs` has fetched it
"""
