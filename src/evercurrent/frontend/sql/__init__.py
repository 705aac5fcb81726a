"""SQL to calculus.

aggregates   aggregate calls
alter        ALTER TABLE
block        a SELECT block while it is read; generators in its select list
calls        function calls to terms
carrying     terms that go from one level to the next
commands     BEGIN and COMMIT, SHOW, DESCRIBE, EXPLAIN, COPY
ddl          CREATE and DROP
dialect      the grammar: Spark's, with every function call left as it was written
dml          INSERT, UPDATE, DELETE
expressions  scalar expressions to terms
file_functions  read_parquet, read_csv and read_json in FROM
functions    the names of functions, and those that are refused
grouping     GROUP BY, ROLLUP, CUBE, GROUPING SETS; the level of a grouped block
indexes      CREATE INDEX and DROP INDEX
items        the select list
joins        join trees
literals     numbers, strings, intervals
merge        MERGE
names        places in a text, suggestions, names without duplicates
naming       what columns without an alias are called
ordering     ORDER BY, LIMIT, OFFSET
parameters   ? and :name
parse        the entry points: parse_statement, parse_script, parse_query, parse_expression
pivots       PIVOT and UNPIVOT
queries      any query: WITH and the dispatch between the above
recursion    WITH RECURSIVE to fixpoints
refused      statements that are not supported, and what to use instead
results      the result of reading a query
returning    ON CONFLICT and RETURNING
scope        which columns and relations a name can mean
select       one SELECT block
setops       UNION, INTERSECT, EXCEPT, VALUES
sources      the items of FROM
spark_text   the text of a query for Spark's own SQL
spark_views  views whose query only Spark understands
statements   what a statement can be
subqueries   queries inside expressions
syntax       text to syntax tree, and errors with their place
tables       the columns and constraints of CREATE TABLE
time_windows  window(time, duration): event-time windows
types        type names to types
windows      window calls, and the level of a block with windows
"""
