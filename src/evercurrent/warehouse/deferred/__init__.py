"""Lazy and hybrid views: what waits until somebody reads, and how it is caught up.

catch_up            reading what has waited
deferred_relations  what of a design waits until somebody reads, and under which names it lies meanwhile
deferred_work       the work that has waited
groups              views that wait together
"""
