"""Definitions as data: what a database that outlives its program keeps of its catalog, and back.

listing             from a catalog to its definitions
operations          operations of classes: a term, or the name of a function
python_definitions  views of query objects, as the JSON of the query
reading             from definitions to a catalog
spark_definitions   views that only Spark understands
tables              a table as JSON, exactly, and back
"""
