"""Lowering: from the calculus to plans without nested queries.

extend     a plan's rows with the rows of a query that may depend on them; here the kinds of queries are distinguished
dependent  a query that depends on outer rows as an independent plan plus a condition: by pulling up, or over a domain
nested     nested queries of terms become columns; EXISTS, IN and ALL become semi joins where they are conditions
padding    outer generators and full outer joins
grouping   GROUP BY and grouping sets
quantify   SOME and ALL as values
windows    window functions, one specification a node
correlate  the columns by which a query is correlated, and replacing them
"""
