"""CREATE and DROP on a warehouse: definitions are kept as text in every version.

called_functions    which functions the definitions of a warehouse call, and which of them the program has not handed over
classes             classes on a warehouse
drafts              definitions take effect
fill_stores         the stores of another catalog
named_objects       named objects on a warehouse
oql                 OQL on a warehouse
python_definitions  definitions of views of query objects, as a version keeps them
python_views        query objects of Python on a warehouse
sources             sources as definitions
statements          CREATE and DROP on a warehouse
"""
