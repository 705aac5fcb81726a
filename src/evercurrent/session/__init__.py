"""The database in process: statements, transactions, commits, and the handles of tables and views.

altering       ALTER TABLE
apply          applies change feeds
blame          says which view failed, and for which row, when the data make an expression fail
bulk           large changes that come as columns
catalog_change  a new catalog that takes effect, all of it or nothing
definition     CREATE and DROP
explain        how a view is kept, as text
feed           the trusted fast path into a table
installation   the one place where a new catalog takes effect
keeping        what a session asks of the file that keeps its database
maintenance    the engine, the program that it runs, and the views that are recomputed in full
object_space   what a session asks of the objects of its database
plans          how single statements and single rows run quickly
python_views   query objects of Python in a database inside this process
session        the state behind a `Database`, and the one way in which it changes: commit
spark_methods  methods that only a database on Spark offers
stats          entries and bytes of every table and state
tables         the handle of a table
target         what the executor of statements asks of a session
transactions   `with db.transaction()`: all or nothing
verify         recomputes views and compares
views          the handle of a view
watching       what somebody subscribes to, found once
why            why a view has a row: the parts that read the stores
"""
