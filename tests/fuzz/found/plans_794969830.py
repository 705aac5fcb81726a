"""Campaign plans, seed 794969830."""

from tests.fuzz.campaigns.plans import follow

# delta of v0, live engine
# found    {(None, 3, 3, 3): -1}
# expected {(None, 3, None, None): -1}
# v0:
# Outer left cast(a1 as BIGINT) = a11 and cast(b2 as BIGINT) = a11
#   Anti a1 = id6 and a1 = k7
#     Anti a1 = k4
#       Scan r [a1: a, b2: b]
#       Scan c [k4: k]
#     Scan c [id6: id, k7: k]
#   Aggregate scalar a11: sum(a9), a12: min(b10)
#     Scan r [a9: a, b10: b]
follow(
    794969830,
    [
        ('change', 'commit', [('r', (2, 2), 1)]),
        ('change', 'commit', [('r', (2, 2), -1)]),
        ('change', 'commit', [('r', (3, 3), 1), ('r', (None, 3), 1), ('s', (3, 0), 1)]),
        ('change', 'commit', [('r', (None, 3), -1)]),
    ],
)
