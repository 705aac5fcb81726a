"""Iceberg's own runtime as the other side: tables of its catalogs are read through the session.

test_iceberg_engine  copy-on-write, merge-on-read, deletion vectors, ORC; changed columns; expired snapshots
test_catalogs        the same tables in a REST catalog and in a Hive metastore
servers              these two, on loopback

It has packages of its own: `make test-iceberg` fetches them. Where the runtime is not there, the tests are skipped.
"""
