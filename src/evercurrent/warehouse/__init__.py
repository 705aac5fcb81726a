"""A database on Spark: the same statements and handles as inside the process, over durable, versioned data.

changes      changes
core         the catalog, the program and the present version; every change goes through `commit`
database     the public face
deferred     deferred
definitions  CREATE and DROP, kept as texts in every version
handles      the tables and views that users hold
history      what versions have changed
integrity    integrity
maintenance  maintenance
objects      objects
planning     planning
queries      a query, once, from scratch
statements   what the executor of statements asks of a warehouse
why          the base rows of a view's row
"""
