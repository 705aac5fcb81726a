"""Campaign object_assumptions, seed 1000."""

from tests.fuzz.object_histories import Ref, follow

# 'Block' object has no attribute 'enter'
follow(
    'FIRM',
    [
        ('change', 'commit', [('new', 'site', '', {'name': 'd', 'area': 1, 'spare': 0, 'depts': []}, None, 0)]),
    ],
)
