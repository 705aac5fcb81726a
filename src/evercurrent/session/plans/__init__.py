"""How single statements and single rows run quickly in a database inside this process.

indexes        CREATE INDEX and DROP INDEX
joined_calls   calls that insert one row into the open transaction, or read one by its key
lookups        finds the rows of tables by keys and indexes
prepared       plans of repeated statements
readiness      when a change of one row may go the short way, as source
small_calls    a user's call that changes one row: values, lock and the change
small_changes  the change of one row, as one generated function for each table and operation
small_notices  notifies subscribers of such a change
small_stores   what such a change does to the store of its table
small_transactions  such a change while it is committed, and how it is undone
"""
