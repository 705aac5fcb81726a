"""Campaign plans, seed 795014374."""

from tests.fuzz.campaigns.plans import follow

# delta of v1, interpreter
# found    {(None, 3, 42, None): 1, (2, 3, 42, 2.0): -1, (None, 0, 92, 1.0): 1, (None, 0, 92, None): -1}
# expected {(None, 0, 57, None): 1, (1, 0, 35, 1.0): 1, (None, 3, 42, None): 1, (None, 0, 92, None): -1, (2, 3, 42, 2.0): -1}
# v0:
# Union [u17, u18]
#   Map p9: a5, p10: a4
#     Anti a5 = cast(id6 as BIGINT)
#       Aggregate scalar a4: sum(z3), a5: count(k2)
#         Scan c [k2: k, z3: z]
#       Scan k [id6: id]
#   Map p15: cast(b14 as BIGINT), p16: cast(a13 as BIGINT)
#     Join b11 = a13 and c12 < a13
#       Scan s [b11: b, c12: c]
#       Scan r [a13: a, b14: b]
# v1:
# Aggregate by g28: a25, g29: y21; a26: sum(id19), a27: avg(a24)
#   Outer left cast(x20 as DOUBLE) = a24
#     Scan k [id19: id, x20: x, y21: y]
#     Aggregate scalar a24: avg(b22), a25: count(*)
#       Scan s [b22: b]
# v2:
# Aggregate by g36: b31; a34: sum(b31), a35: count(a30)
#   Outer left b31 = b33 and a30 < b33
#     Scan r [a30: a, b31: b]
#     Scan r [b33: b]
follow(
    795014374,
    [
        ('change', 'commit', [('r', (0, 1), 1), ('s', (0, 2), 1)]),
        ('change', 'commit', [('s', (3, 1), 1)]),
        ('change', 'commit', [('k', (9, 1, 1), 1), ('s', (3, 1), -1)]),
        ('change', 'commit', [('s', (2, 0), 1)]),
    ],
)
