"""Campaign views, seed 795014227."""

from tests.fuzz.histories import NAN, follow

inf, nan = float('inf'), NAN

# list index out of range
follow(
    [
        ('table', 't0', ('k', 'unread', 'c0', 'c1'), 1, None, 'CREATE TABLE t0 (k INT PRIMARY KEY, unread INT, c0 DOUBLE, c1 DOUBLE)'),
        ('table', 't1', ('k', 'c0', 'c1', 'c2', 'p'), 1, 't0', 'CREATE TABLE t1 (k INT PRIMARY KEY, c0 INT, c1 INT, c2 DOUBLE, p INT, FOREIGN KEY (p) REFERENCES t0 (k))'),
        ('table', 't2', ('k', 'c0', 'c1', 'c2', 'p'), 1, 't0', 'CREATE TABLE t2 (k INT PRIMARY KEY, c0 DOUBLE, c1 BOOLEAN, c2 DOUBLE, p INT, FOREIGN KEY (p) REFERENCES t0 (k))'),
        ('view', 'v0', "SELECT abs(a1.p) AS x7, (SELECT COUNT(DISTINCT a9.k) FROM t0 a9 WHERE a9.k = a1.p) AS x8 FROM t1 a1 LEFT ANTI JOIN (SELECT length('B') AS x4, (a3.k - a3.c0) AS x5, (a3.c1 + a3.c1) AS x6 FROM t1 a3 WHERE CASE WHEN a3.c0 = 2 THEN a3.p END <=> a3.c1) a2 ON a1.p < a2.x5 WHERE (NOT (1 <= a1.k) OR a1.c0 IS NOT NULL) AND a1.k NOT IN (SELECT length('ab') AS x13 FROM t0 a10 LATERAL VIEW explode(array(a10.k, a10.k)) l11 AS z12 WHERE l11.z12 = a1.c0 AND l11.z12 BETWEEN 0 AND 2)", 'hybrid'),
        ('change', 'commit', [('insert', 't0', [(0, 1, 0.5, -0.0)])]),
        ('view', 'v1', "SELECT a14.x8 AS x20 FROM v0 a14 LEFT SEMI JOIN (SELECT a16.c2 AS x17, NULLIF(CAST('-1.25' AS DOUBLE), a16.c2) AS x18, NULLIF(a16.c1, a16.c1) AS x19 FROM t2 a16 WHERE a16.p >= 1) a15 ON TRUE EXCEPT ALL SELECT a22.k AS x23 FROM t0 a21 FULL JOIN t0 a22 ON a21.k = a22.k", 'strict'),
    ]
)
