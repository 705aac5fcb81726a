"""Objects whose rows lie in the stores of a warehouse.

face            what a database on Spark offers for objects
stored_objects  objects whose rows lie in stores
"""
