"""What stands between the public face and the engines: stored rows, transactions, constraints, subscribers.

patch           the change of one dictionary, worked out before it is made
store           the rows of one table, with the indexes that its constraints need
rows            rows as users write them, and as they read them
pending         what a transaction has changed so far
constraints     whether the net change of a transaction may stand
subscriptions   who hears of a change, and when
compile         from queries to one maintenance program
maintenance     the engine, the program that it runs, and what is recomputed in full
session         one database: the catalog and all of the above; commit
transactions    the object behind `with db.transaction()`
query           a query, once, from scratch
execute         statements
definition      CREATE and DROP
bulk            Arrow, pandas and change feeds, in and out
verify, stats   what the database says of itself
tables, views   the handles that users hold
feed            the trusted fast path
"""
