"""Front ends: texts and Python expressions become calculus queries. Each is a stranger to the others.

odl     ODL, the object definition language
oql     OQL to calculus
python  queries written as Python
sql     SQL in Spark's dialect
"""
