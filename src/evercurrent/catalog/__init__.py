"""What the database knows by name.

nodes    tables with their constraints, views, assertions
catalog  the names, their order of dependence, and what is known of a relation (keys, references, nullability)
"""
