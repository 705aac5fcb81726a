"""Objects: classes as Python classes, whose changes update views as changes of tables do.

again        classes that a file keeps, declared again
model        what an object is: handle, class, values, changes, and the registry of all objects
collections  collections that belong to objects, and relationships kept from both ends
class_space  makes classes, enters objects and changes them, for both databases
classes      classes of a schema as Python classes, compiled for those who read their objects
declaring    adds classes to a database and drops them
deleting     deletes an object, and clears everything that refers to it
extents      extents and classes as a program sees them
face         the methods of a database
lender       what the engine need not keep of objects, because they hold it themselves
names        named objects, which queries may use
rows         SQL's changes of rows as changes of objects
space        all objects of a database in process, and how their changes reach the views
stores       the tables of classes, read off the objects
"""
