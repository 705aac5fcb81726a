"""Tables with their keys and references, views, assertions, and who depends on whom.

nodes         what the front ends declare
catalog       all names of a database; what the compiler may know of a relation
dependencies  who depends on whom
lookup        what a name stands for, and whether it may be dropped
"""
