"""What stands between the public face and the engines: stored rows, transactions, constraints, subscribers.

apply          applies change feeds
blame          says which view failed, and for which row, when the data make an expression fail
definition     CREATE and DROP
explain        how a view is kept, as text
feed           the trusted fast path into a table
installation   the one place where a new catalog takes effect
maintenance    the engine, the program that it runs, and the views that are recomputed in full
object_space   what a session asks of the objects of its database
python_views   query objects of Python in a database inside this process
session        one database
spark_methods  methods that only a database on Spark offers
stats          what is kept
tables         the handle of a table
target         what the executor of statements asks of a session
transactions   what `with db.transaction()` gives
verify         recompute and compare
views          the handle of a view
why            why a view has a row: the parts that read the stores
"""
