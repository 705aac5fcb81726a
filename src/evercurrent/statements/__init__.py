"""Statements, executed on any database, and what every database offers its users.

altering            ALTER TABLE as a catalog
async_blocks        `async with db.transaction()`
catalog_statements  SHOW, DESCRIBE, EXPLAIN
conflicts           INSERT of rows whose keys are there: ON CONFLICT, upsert
data                tables from data, CREATE TABLE AS, COPY
data_face           the methods that read files and make tables of data
definition          what holds for every CREATE, and what reads and checks the rows of a table
execute             executes statements of SQL
handles             the tables and views that users hold
live_views          views of query objects
options             the options of statements, and their choices
oql                 executes statements of OQL
order               rows in the order of ORDER BY
protocol            what every database offers: `Database` and `Warehouse` are two
python_face         the methods that take classes, query objects and functions
redefinition        definitions resolved again, when what they read has changed
report              what `db.verify()` returns
run_record          what a run did, view by view
statement_face      the methods that run statements and look up names
table_text          a table as CREATE TABLE
target              what the executor asks of a database
upsert              rows inserted, or put in the place of those with their keys
transactions        what transactions of every database have in common
"""
