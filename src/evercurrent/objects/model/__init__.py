"""What an object is: its handle, its class, its values, its changes, its place among all objects.

handles   the class of all objects; deleted ones, and new ones whose transaction was undone
keys      declared keys: no two objects have the same values there
kinds     one class of the schema: its fields, its tables, its objects
registry  all objects of a database, by class and by identity
values    what an attribute takes in, and how it stands in a row
work      the unit of work: what the open transaction has changed
"""
