"""Lazy and hybrid views: what waits in queues until somebody reads, and what it adds up to.

deferred_relations  which relations of a design are deferred, and under which names their changes wait
deferred_work       applying the queues
groups              views that wait together
"""
