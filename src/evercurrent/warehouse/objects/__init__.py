"""Objects whose rows lie in the stores of a warehouse.

face            what a database on Spark offers for objects
lazy_slots      slots of stored objects, which are read when they are asked for
stored_objects  objects whose rows lie in stores
"""
