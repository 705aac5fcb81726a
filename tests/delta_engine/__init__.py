"""Delta's own engine as the other side: tables that it writes are read here, and published views are read by it.

test_delta_engine  deletion vectors, mapped columns, partitions, change feeds, wider types, row tracking; published views and their feeds; features that only it knows

It has packages of its own: `make test-delta` installs them. Where they are not there, or Maven cannot be reached, the tests are
skipped with the reason.
"""
