"""Campaign warehouse, seed 794977548."""

from tests.fuzz.histories import NAN
from tests.fuzz.warehouse_histories import follow

inf, nan = float('inf'), NAN

# Spark failed: key not found: c0#26996
# hint: nothing was changed; the cause above tells more
follow(
    [
        ('table', 't0', 'CREATE TABLE t0 (k INT, c0 INT, c1 BOOLEAN, c2 DATE)'),
        ('table', 't1', 'CREATE TABLE t1 (k INT, c0 INT, c1 DECIMAL(8,2), c2 DOUBLE)'),
        ('view', 'v0', "SELECT (a1.x3 - a1.x3) AS x4, (SELECT COUNT(*) FILTER (WHERE a6.c2 NOT IN (DATE '2024-02-29', DATE '2024-01-01')) FROM t0 a6 WHERE a6.c0 = a1.x3) AS x5, a1.x3 AS x7 FROM (SELECT COALESCE(a2.k, a2.k) AS x3 FROM t1 a2 WHERE a2.c2 <> a2.c2) a1 WHERE a1.x3 <=> a1.x3 EXCEPT ALL SELECT a9.c0 AS x10, (a9.c0 + a9.c0) AS x11, (a8.k + a9.k) AS x12 FROM t0 a8 FULL JOIN t0 a9 ON a8.c2 = a9.c2 WHERE a9.c0 <=> NULLIF(a8.k, a8.k) AND a9.c0 < (SELECT COUNT(a13.c1) FILTER (WHERE NOT (a13.c2 IN (CAST('0.0' AS DOUBLE), CAST('-1.25' AS DOUBLE)))) FROM t1 a13 WHERE a13.k = a9.c0)", 'full', {}),
        ('change', 'driver', [('t1', None, (2, 2, None, -1.25))]),
    ]
)
