"""SQL to calculus.

parse        the doors: parse_statement, parse_script, parse_query, parse_expression
statements   what a statement can be
dialect      the grammar: Spark's, with every function call left as it was written
syntax       text to syntax tree, and errors with their place
names        source texts, places, fresh names, suggestions
scope        which columns and relations a name can mean
types        type names to types
literals     numbers, strings, intervals
expressions  scalar expressions to terms
functions    the names of functions, and those that are refused
calls        function calls to terms
arrays       generators: explode and its kin
aggregates   aggregate calls, and the level of a grouped query
windows      window calls, and the level of a windowed query
subqueries   queries inside expressions
sources      what stands in FROM
joins        join trees
grouping     GROUP BY, ROLLUP, CUBE, GROUPING SETS
select       one SELECT block
ordering     ORDER BY, LIMIT, OFFSET
setops       UNION, INTERSECT, EXCEPT, VALUES
queries      any query: WITH and the dispatch between the above
recursion    WITH RECURSIVE to fixpoints
ddl          CREATE and DROP
dml          INSERT, UPDATE, DELETE
merge        MERGE
"""
