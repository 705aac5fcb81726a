"""Statements, executed on any database, and what every database offers its users.

definition      what holds for every CREATE, and what reads and checks the rows of a table
execute         executes statements of SQL
handles         the tables and views that users hold
live_views      views of query objects
options         the options of statements, and their choices
oql             executes statements of OQL
order           rows in the order of ORDER BY
protocol        what every database offers: `Database` and `Warehouse` are two
python_face     the methods that take classes, query objects and functions
redefinition    definitions resolved again, when what they read has changed
report          what `db.verify()` returns
run_record      what a run did, view by view
statement_face  the methods that run statements and look up names
target          what the executor asks of a database
transactions    what transactions of every database have in common
"""
