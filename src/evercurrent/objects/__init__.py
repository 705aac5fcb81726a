"""Objects: classes as Python classes, whose changes move views like changes of tables.

An object holds its values itself; the tables of extents (`catalog.extents`) keep nothing, they read their rows off the
objects. Outside a transaction, where nobody waits to be told, a write calls the compiled trigger of the row that goes and of
the row that comes; inside one, the object's values before the first write are noted once, and the rows are compared at the end.

handles       the class of all objects; deleted and undone ones
values        what an attribute takes in, and how it stands in a row
kinds         one class of the schema: its Python class, its fields, its tables
writing       the source of constructors, setters and rows
owned         sets and bags that belong to an object; positioned: lists and dictionaries
links         relationships, consistent from both ends
work          what a transaction has changed: dirty objects, rows of collections, a journal
deleting      everything that refers to an object, found and cleared
stores        the tables of classes, read off the objects
space         all objects of a database
quick         the quick ways into collections
backward      who refers to an object, from the first deletion on
structs       structs whose members are written
rows          SQL's changes of rows as changes of objects
entities      classes written in Python
declaring     classes come into a database and leave it
extents       extents and classes as a program sees them
face          the methods of a database
"""
