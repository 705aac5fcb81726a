"""Views in OQL, whichever database keeps them: values of any depth, changes, explanations.

changes            what a transaction changed in a view of OQL
explain            how a view of OQL is kept
methods            functions of operations as terms over attributes
stored_operations  functions of operations that are stored with the data
translation        the translation of OQL over a catalog
values             the value of a result of any type, stitched from the flat relations that keep it
why                why a view of OQL has an element, or the value that it has
"""
