"""Campaign warehouse, seed 794958615."""

from tests.fuzz.histories import NAN
from tests.fuzz.warehouse_histories import follow

inf, nan = float('inf'), NAN

# not what Spark's SQL says: v0: differs: 0 missing, 1 unexpected
#   unexpected  (None, 0, 0)
follow(
    [
        ('table', 't0', 'CREATE TABLE t0 (k INT, c0 DOUBLE, c1 INT, c2 DOUBLE)'),
        ('table', 't1', 'CREATE TABLE t1 (k INT, c0 DOUBLE, c1 BOOLEAN)'),
        ('view', 'u', "SELECT SUM(DISTINCT a101.c1) FILTER (WHERE NOT (a101.k IN (2, 3))) AS g103, COUNT(*) FILTER (WHERE (a101.c1 IN (0, 3, NULL) AND a101.c2 NOT IN (CAST('-1.25' AS DOUBLE), CAST('0.0' AS DOUBLE)))) AS g104 FROM t0 a101 RIGHT JOIN t1 a102 ON a101.c1 = a102.k", 'full', {}),
        ('view', 'v0', "SELECT a1.c0 AS k10, COUNT(a2.x9) AS g11, COUNT(a2.x9) AS g12 FROM t0 a1 JOIN (SELECT (a4.x6 * 0) AS x8, CASE WHEN a4.x6 BETWEEN 0 AND 2 THEN a4.x7 END AS x9 FROM t0 a3 JOIN (SELECT NULLIF(a5.g103, a5.g104) AS x6, a5.g104 AS x7 FROM u a5 WHERE a5.g104 IN (1, 1)) a4 ON a3.c1 = a4.x7 WHERE a3.c0 NOT IN (CAST('0.5' AS DOUBLE), CAST('0.0' AS DOUBLE))) a2 ON a1.k = a2.x9 GROUP BY CUBE (a1.c0)", 'incremental', {}),
        ('change', 'driver', []),
    ]
)
