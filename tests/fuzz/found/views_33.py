"""Campaign views, seed 33."""

from tests.fuzz.histories import NAN, follow

inf, nan = float('inf'), NAN

# expected an indented block after 'if' statement on line 5 (<evercurrent 62: 1 relations>, line 9)
follow(
    [
        ('table', 't2', ('k', 'c0', 'c1'), 1, None, 'CREATE TABLE t2 (k INT PRIMARY KEY, c0 STRING, c1 BOOLEAN)'),
        ('view', 'v0', "SELECT COUNT(a1.c1) FILTER (WHERE a1.k < a1.k) AS g2 FROM t2 a1 WHERE NOT ((a1.c0 >= 'B' OR a1.c0 >= a1.c0))", 'strict'),
    ]
)
