"""Front ends: texts and Python expressions become calculus queries. Each is a stranger to the others.

sql     SQL in Spark's dialect
"""
