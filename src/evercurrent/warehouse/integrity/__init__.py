"""Is what is stored what was written, and what its query returns?

check   is everything that lies in a warehouse what was written? Every file that a version mentions is read and compared with its digest
repair  rebuild what can be rebuilt
verify  is every view what Spark's own SQL returns for its query on the stored tables?
"""
