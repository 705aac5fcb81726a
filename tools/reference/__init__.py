"""The reference pages: written from the tables of the code, with examples that the engine runs.

`make reference` writes `docs/reference/`. A test compares what is written there with what would be written, and the
entries with the functions, aggregates, statements, types and options that the code has.

api          the public names, by topic, for Sphinx to read their docstrings
engine       runs an example, and shows its result as text
entries      what people write about each thing, as text files
errors       the exception tree
functions    operators, functions, aggregates, window functions, generators
options      options of CREATE VIEW and of connect; the command line
oql          OQL: a table of constructs
pages        all pages by file name
statements   SQL statements
types        types of columns
"""
