"""Objects: classes as Python classes, whose changes move views like changes of tables.

classes      classes
collections  collections
deleting     everything that refers to an object, found and cleared
extents      extents and classes as a program sees them
face         the methods of a database
handles      the class of all objects; deleted and undone ones
lending      what the engine need not keep of objects, because they hold it themselves (see `engine.live.borrowed_states`)
names        named objects, which queries may use
reading      who reads the tables of classes
rows         SQL's changes of rows as changes of objects
space        all objects of a database
stores       the tables of classes, read off the objects
values       what an attribute takes in, and how it stands in a row
work         what a transaction has changed: dirty objects, rows of collections, a journal
"""
