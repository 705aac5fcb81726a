"""Tables with their keys and references, views, assertions, and who depends on whom.

catalog          all names of a database; what the compiler may know of a relation
classes          classes, as ODL text or Python classes declare them
dependencies     who depends on whom
extents          how objects are kept as tables, and where a property of an object is to be found
lookup           what a name stands for, and whether it may be dropped
nodes            what the front ends declare
removal          a catalog without one of its tables, views or assertions
rules            what the rows of a table must satisfy, as data
wellformed       whether classes fit together, whoever declared them
without_classes  A catalog without some of its classes
"""
