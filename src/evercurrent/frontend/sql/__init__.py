"""SQL to calculus.

parse        the doors: parse_statement, parse_script, parse_query, parse_expression
statements   what a statement can be
dialect      the grammar: Spark's, with every function call left as it was written
syntax       text to syntax tree, and errors with their place
names        places in a text, suggestions, names without duplicates
naming       what columns without an alias are called
scope        which columns and relations a name can mean
types        type names to types
parameters   ? and :name
literals     numbers, strings, intervals
expressions  scalar expressions to terms
functions    the names of functions, and those that are refused
calls        function calls to terms
aggregates   aggregate calls
windows      window calls, and the level of a block with windows
carrying     terms that go from one level to the next
subqueries   queries inside expressions
sources      what stands in FROM
joins        join trees
grouping     GROUP BY, ROLLUP, CUBE, GROUPING SETS; the level of a grouped block
items        the select list
block        a SELECT block while it is read; generators in its select list
select       one SELECT block
ordering     ORDER BY, LIMIT, OFFSET
setops       UNION, INTERSECT, EXCEPT, VALUES
queries      any query: WITH and the dispatch between the above
recursion    WITH RECURSIVE to fixpoints
results      what reading a query gives
ddl          CREATE and DROP
tables       the columns and constraints of CREATE TABLE
dml          INSERT, UPDATE, DELETE
merge        MERGE
"""
