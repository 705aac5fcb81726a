"""The matrix of functions and positions: what is drawn, where it stands, and how it is compared.

items       functions, aggregates and window functions of the product, with example arguments
positions   the queries in which an item stands somewhere
cells       all pairs of both; which are not supported, and why
scenario    a table, views and transactions that try a block of cells
"""
