"""Queries of every construct mean what DuckDB says they mean; the reference evaluator answers for us."""

from __future__ import annotations

import pytest

from tests.duck import difference
from tests.unit.frontend.sql.reading import duck, ours

SAME = """
SELECT id, name FROM emp WHERE salary > 80.50 AND dept IN (10, 20)
SELECT id, name FROM emp WHERE NOT (salary > 80.50) OR dept IS NULL
SELECT * FROM t WHERE a BETWEEN 1 AND 2 AND s LIKE 'p%'
SELECT a + b, a - b, a * b, a % 7, -a FROM t
SELECT a, b, a <=> b, a = b, a <> b FROM t
SELECT CASE WHEN a = 1 THEN 'one' WHEN a = 2 THEN 'two' ELSE s END AS x, CASE s WHEN 'p' THEN 1 END AS y FROM t
SELECT coalesce(a, b, 0), nullif(a, 2), if(a > 1, 'big', 'small'), ifnull(b, -1), nvl(a, 9) FROM t
SELECT CAST(a AS STRING), CAST(c AS DOUBLE), a::BIGINT FROM t
SELECT name || '!' || s FROM emp CROSS JOIN t WHERE a = 3
SELECT upper(name), lower(name), length(name), substring(name, 1, 2) FROM emp
SELECT e.name, d.name AS dname FROM emp e JOIN dept d ON e.dept = d.id
SELECT e.name, d.name AS dname FROM emp e LEFT JOIN dept d ON e.dept = d.id AND d.boss = 1
SELECT e.name, d.name AS dname FROM emp e RIGHT JOIN dept d ON e.dept = d.id
SELECT e.name, d.name AS dname FROM emp e FULL OUTER JOIN dept d ON e.dept = d.id AND e.salary > 90
SELECT e.name FROM emp e LEFT SEMI JOIN dept d ON e.dept = d.id AND d.boss IS NOT NULL
SELECT e.name FROM emp e LEFT ANTI JOIN dept d ON e.dept = d.id
SELECT * FROM t JOIN u USING (a)
SELECT * FROM t LEFT JOIN u USING (a, b)
SELECT * FROM t RIGHT JOIN u USING (a)
SELECT * FROM t FULL JOIN u USING (a)
SELECT a, t.b, u.b AS ub FROM t FULL JOIN u USING (a) WHERE a IS NOT NULL
SELECT * FROM t NATURAL JOIN u
SELECT t.s, u.d FROM t, u WHERE t.a < u.a
SELECT x.a, y.a AS ya, z.a AS za FROM t x JOIN t y ON x.a = y.a JOIN u z ON z.a = y.a AND z.b = x.b
SELECT e.name, d.name AS dn, u.d FROM emp e LEFT JOIN (dept d JOIN u ON d.boss = u.a) ON e.dept = d.id
SELECT e.name, s.n FROM emp e LEFT JOIN (SELECT dept, count(*) AS n FROM emp GROUP BY dept) s ON s.dept = e.dept
SELECT t.a, l.m FROM t, LATERAL (SELECT max(u.b) AS m FROM u WHERE u.a = t.a) l
SELECT t.a, l.b FROM t LEFT JOIN LATERAL (SELECT u.b FROM u WHERE u.a = t.a) l ON true
SELECT e.name FROM emp e JOIN dept d ON e.dept = d.id AND e.id IN (SELECT boss FROM dept)
SELECT dept, count(*), count(salary), sum(salary), min(salary), max(salary) FROM emp GROUP BY dept
SELECT dept, avg(salary) AS m FROM emp GROUP BY dept HAVING count(*) > 1
SELECT count(*), sum(a), min(s), max(c), count(DISTINCT a), sum(DISTINCT b) FROM t
SELECT count(*), sum(a) FROM t WHERE false
SELECT a + 1 AS k, sum(b) FROM t GROUP BY a + 1
SELECT a + 1 AS k, sum(b) FROM t GROUP BY k
SELECT a + 1 AS k, sum(b) FROM t GROUP BY 1
SELECT (a + 1) * 2 AS z, count(*) FROM t GROUP BY a + 1
SELECT a, s, sum(b) FROM t GROUP BY ALL
SELECT a, sum(b) AS total FROM t GROUP BY a HAVING total > 20
SELECT 1 FROM t HAVING count(*) > 3
SELECT a FROM t GROUP BY a
SELECT a, s, count(*) FROM t GROUP BY ROLLUP (a, s)
SELECT a, s, count(*) FROM t GROUP BY CUBE (a, s)
SELECT a, s, count(*) FROM t GROUP BY GROUPING SETS ((a), (s), (a, s), ())
SELECT a, s, b, count(*) FROM t GROUP BY a, ROLLUP (s, b)
SELECT a, s, grouping(a) AS ga, grouping(s) AS gs, grouping_id(a, s) AS g, sum(b) FROM t GROUP BY ROLLUP (a, s)
SELECT count(*) FILTER (WHERE a > 1), sum(b) FILTER (WHERE s = 'p') FROM t
SELECT bool_and(active), bool_or(active) FROM emp
SELECT max_by(name, salary), min_by(name, id) FROM emp
SELECT stddev_samp(c), var_pop(c), stddev_pop(b) FROM t
SELECT median(c), percentile_cont(0.25) WITHIN GROUP (ORDER BY b) FROM t
SELECT dept, listagg(name, ',') WITHIN GROUP (ORDER BY name DESC) FROM emp GROUP BY dept
SELECT dept, collect_list(name) FROM emp GROUP BY dept HAVING count(*) = 1
SELECT sum(a) + count(*) * 2, max(b) - min(b) FROM t
SELECT DISTINCT a, s FROM t
SELECT DISTINCT sum(b) FROM t GROUP BY a
SELECT a FROM t UNION SELECT a FROM u
SELECT a FROM t UNION ALL SELECT a FROM u
SELECT a, b FROM t INTERSECT SELECT a, b FROM u
SELECT a, b FROM t INTERSECT ALL SELECT a, b FROM u
SELECT a FROM t EXCEPT SELECT a FROM u
SELECT a FROM t EXCEPT ALL SELECT a FROM u
SELECT a FROM t MINUS SELECT a FROM u
SELECT a FROM t UNION ALL SELECT a FROM u INTERSECT SELECT x FROM edge
(SELECT a FROM t UNION ALL SELECT a FROM u) INTERSECT SELECT x FROM edge
SELECT a FROM t UNION ALL SELECT c FROM t
SELECT a AS k FROM t UNION ALL SELECT x FROM edge ORDER BY k DESC NULLS LAST LIMIT 4
SELECT name FROM emp WHERE dept = (SELECT id FROM dept WHERE name = 'Tech')
SELECT name, (SELECT count(*) FROM dept d WHERE d.boss = e.id) AS n FROM emp e
SELECT name, (SELECT d.name FROM dept d WHERE d.id = e.dept) AS dn FROM emp e
SELECT name FROM emp e WHERE salary > (SELECT avg(salary) FROM emp x WHERE x.dept = e.dept)
SELECT name FROM emp WHERE dept IN (SELECT id FROM dept)
SELECT name FROM emp WHERE dept NOT IN (SELECT id FROM dept)
SELECT name FROM emp WHERE dept NOT IN (SELECT boss FROM dept)
SELECT name FROM emp WHERE dept NOT IN (SELECT id FROM dept WHERE id > 100)
SELECT a FROM t WHERE (a, b) IN (SELECT a, b FROM u)
SELECT a FROM t WHERE (a, b) IN ((1, 10), (2, 20))
SELECT name FROM emp e WHERE EXISTS (SELECT 1 FROM dept d WHERE d.boss = e.id)
SELECT name FROM emp e WHERE NOT EXISTS (SELECT 1 FROM dept d WHERE d.boss = e.id)
SELECT a FROM t WHERE a >= ALL (SELECT a FROM u WHERE a IS NOT NULL AND a < 3)
SELECT a FROM t WHERE a > ALL (SELECT a FROM u)
SELECT a FROM t WHERE a = ANY (SELECT a FROM u)
SELECT a FROM t WHERE a < SOME (SELECT a FROM u)
SELECT dept, (SELECT max(d.name) FROM dept d WHERE d.id = dept) AS dn, count(*) FROM emp GROUP BY dept
SELECT dept, count(*) FROM emp e GROUP BY dept HAVING EXISTS (SELECT 1 FROM dept d WHERE d.id = e.dept)
SELECT dept, sum(salary) FROM emp GROUP BY dept HAVING sum(salary) > (SELECT avg(salary) FROM emp)
SELECT sum((SELECT max(b) FROM u WHERE u.a = t.a)) FROM t
SELECT CASE WHEN EXISTS (SELECT 1 FROM u WHERE u.a = t.a) THEN 'yes' ELSE 'no' END AS e, a FROM t
SELECT a IN (SELECT a FROM u) AS i, a NOT IN (SELECT a FROM u WHERE a IS NOT NULL) AS n FROM t
WITH c AS (SELECT a, b FROM t WHERE a > 1) SELECT x.a, y.b FROM c x JOIN c y ON x.a = y.a
WITH c(k, v) AS (SELECT a, b FROM t), d AS (SELECT k, sum(v) AS s FROM c GROUP BY k) SELECT * FROM d WHERE s > 20
WITH a AS (SELECT 1 AS n), b AS (WITH a AS (SELECT 2 AS n) SELECT n FROM a) SELECT a.n, b.n AS m FROM a, b
WITH RECURSIVE r(x, y) AS (SELECT x, y FROM edge UNION SELECT r.x, e.y FROM r JOIN edge e ON r.y = e.x) SELECT * FROM r
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 6) SELECT n, n * n AS q FROM r
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT count(*), sum(n) FROM r
SELECT id, row_number() OVER (PARTITION BY dept ORDER BY salary DESC, id) AS rn FROM emp
SELECT id, rank() OVER (ORDER BY salary NULLS FIRST) AS r, dense_rank() OVER (ORDER BY salary NULLS FIRST) AS d FROM emp
SELECT id, ntile(3) OVER (ORDER BY id) AS n, percent_rank() OVER (ORDER BY id) AS p, cume_dist() OVER (ORDER BY id) AS c FROM emp
SELECT id, lag(name) OVER (ORDER BY id) AS l, lead(name, 2, 'none') OVER (ORDER BY id) AS m FROM emp
SELECT id, first_value(name) OVER (PARTITION BY dept ORDER BY id) AS f, last_value(name) OVER (PARTITION BY dept ORDER BY id) AS l FROM emp
SELECT id, nth_value(name, 2) OVER (ORDER BY id) AS n FROM emp
SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM emp
SELECT id, sum(id) OVER (ORDER BY id RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS s FROM emp
SELECT id, count(*) OVER (ORDER BY hired RANGE BETWEEN INTERVAL 30 DAYS PRECEDING AND CURRENT ROW) AS s FROM emp WHERE hired IS NOT NULL
SELECT id, sum(salary) OVER (PARTITION BY dept) AS s, salary / sum(salary) OVER () AS share FROM emp
SELECT id, sum(id) OVER w AS s, avg(id) OVER w AS m FROM emp WINDOW w AS (PARTITION BY dept ORDER BY id)
SELECT id, max(salary) FILTER (WHERE active) OVER (PARTITION BY dept) AS m FROM emp
SELECT id FROM emp QUALIFY row_number() OVER (PARTITION BY dept ORDER BY id) = 1
SELECT id, rank() OVER (ORDER BY salary NULLS FIRST) AS r FROM emp QUALIFY r <= 3
SELECT dept, sum(salary) AS s, rank() OVER (ORDER BY sum(salary) DESC NULLS LAST) AS r FROM emp GROUP BY dept
SELECT dept, sum(sum(salary)) OVER () AS total, count(*) AS n FROM emp GROUP BY dept
SELECT dept, count(*) FROM emp GROUP BY dept QUALIFY row_number() OVER (ORDER BY count(*) DESC, dept NULLS LAST) = 1
SELECT name FROM emp ORDER BY salary DESC NULLS LAST, id LIMIT 3
SELECT name FROM emp ORDER BY salary * -1 NULLS LAST, id LIMIT 2 OFFSET 1
SELECT name, salary AS s FROM emp ORDER BY s NULLS LAST, 1 LIMIT 4
SELECT dept, count(*) AS n FROM emp GROUP BY dept ORDER BY count(*) DESC, dept NULLS LAST LIMIT 2
SELECT DISTINCT dept FROM emp ORDER BY dept NULLS LAST LIMIT 2
SELECT DISTINCT dept AS d FROM emp ORDER BY d + 1 DESC NULLS LAST LIMIT 2
SELECT * FROM (SELECT name FROM emp ORDER BY id LIMIT 2) x ORDER BY name
SELECT name FROM emp ORDER BY id OFFSET 5
SELECT (SELECT name FROM emp ORDER BY id DESC LIMIT 1) AS last
VALUES (1, 'a'), (2, NULL)
SELECT * FROM VALUES (1, 'a'), (2, 'b') AS v(n, s)
SELECT 1 + 1 AS two, 'x' AS x
SELECT * FROM (SELECT 1 AS a UNION ALL SELECT 2) x
SELECT extract(YEAR FROM hired) AS y, month(hired) AS m, CAST(hired + INTERVAL 1 DAY AS DATE) AS n FROM emp
SELECT CAST(hired - INTERVAL 1 MONTH AS DATE) AS m, CAST(hired + INTERVAL 1 YEAR AS DATE) AS y FROM emp
SELECT name FROM emp WHERE hired >= DATE '2020-01-31' AND hired < DATE '2020-01-31' + INTERVAL 3 MONTHS
SELECT t.* FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.a = t.a AND u.b > t.b)
SELECT a AS x, x * 2 AS y, y + 1 AS z FROM t
SELECT emp.name, d.* FROM emp JOIN dept AS d ON d.id = emp.dept
SELECT count(*) FROM t, t x, u
SELECT a FROM t WHERE a IN (SELECT x FROM edge WHERE y IN (SELECT b - 28 FROM u WHERE u.a IS NULL OR u.a = t.a))
SELECT a, (SELECT count(*) FROM u WHERE u.a = t.a AND u.b > (SELECT min(x) FROM edge WHERE y = t.a)) AS n FROM t
SELECT a FROM t GROUP BY a HAVING a > 1 OR a IS NULL
SELECT sum(x) FROM (SELECT a AS x FROM t UNION ALL SELECT b FROM u)
SELECT s FROM t WHERE s IS DISTINCT FROM 'p'
SELECT a FROM t WHERE (a = 1) IS NOT TRUE
SELECT a & 1, a | 4, a ^ 1 FROM t WHERE a IS NOT NULL
FROM t SELECT a
"""


@pytest.mark.parametrize("text", [line for line in SAME.strip().splitlines()])
def test_a_query_means_what_duckdb_says(text: str) -> None:
    assert difference(ours(text), duck().query(text), rough=True) == ""


# The same in Spark's words and in DuckDB's.
BOTH = [
    ("SELECT id, explode(tags) AS t FROM emp", "SELECT id, unnest(tags) AS t FROM emp"),
    ("SELECT id, t FROM emp LATERAL VIEW explode(tags) v AS t", "SELECT id, unnest(tags) AS t FROM emp"),
    (
        "SELECT id, p, t FROM emp LATERAL VIEW OUTER posexplode(tags) v AS p, t",
        "SELECT id, v.p - 1, v.t FROM emp LEFT JOIN LATERAL (SELECT unnest(tags) AS t,"
        " generate_subscripts(tags, 1) AS p) v ON true",
    ),
    ("SELECT e.id, u.t FROM emp e, UNNEST(e.tags) AS u(t)", "SELECT id, unnest(tags) FROM emp"),
    ("SELECT e.id, u.t FROM emp e, LATERAL explode(e.tags) AS u(t)", "SELECT id, unnest(tags) FROM emp"),
    (
        "SELECT name, count(*) OVER () AS n, explode(tags) AS tag FROM emp",
        "SELECT name, count(*) OVER () AS n, tag FROM (SELECT name, unnest(tags) AS tag FROM emp)",
    ),
    (
        "SELECT dept, explode(collect_list(name)) AS n FROM emp GROUP BY dept ORDER BY n LIMIT 3",
        "SELECT dept, name FROM emp ORDER BY name LIMIT 3",
    ),
    ("SELECT a FROM (SELECT a, a FROM t) x", "SELECT a FROM t"),
    ("SELECT array(NULL, 3) AS x, map('k', NULL, 'l', 2)['l'] AS y", "SELECT [NULL, 3], 2"),
    ("SELECT struct(NULL AS a, 1 AS b).b AS x, array(date '2020-01-01', NULL)[0] AS y", "SELECT 1, DATE '2020-01-01'"),
    ("SELECT col FROM explode(array(1, 2, 3))", "SELECT unnest([1, 2, 3])"),
    ("SELECT posexplode(array('a', 'b')) AS (p, x)", "VALUES (0, 'a'), (1, 'b')"),
    ("SELECT a, b FROM inline(array(struct(1 AS a, 'x' AS b), struct(2 AS a, 'y' AS b)))", "VALUES (1, 'x'), (2, 'y')"),
    ("SELECT key, value FROM explode(map('a', 1, 'b', 2))", "VALUES ('a', 1), ('b', 2)"),
    ("SELECT id FROM range(2, 9, 3)", "VALUES (2), (5), (8)"),
    ("SELECT * EXCEPT (c, s) FROM t", "SELECT a, b FROM t"),
    ("SELECT x.*, x.p FROM (SELECT struct(a AS p, b AS q) AS x FROM t)", "SELECT a, b, a FROM t"),
    ("SELECT struct(a, b).b AS z, array(a, b)[0] AS y FROM t", "SELECT b, a FROM t"),
    ("SELECT transform(tags, x -> upper(x)) AS u FROM emp WHERE id < 3", "VALUES (['X', 'Y']), (['X'])"),
    ("SELECT aggregate(array(1, 2, 3), 0, (acc, x) -> acc + x) AS s", "SELECT 6"),
    ("SELECT a, grouping_id() AS g FROM t GROUP BY a WITH ROLLUP", "SELECT a, 0 FROM t GROUP BY a UNION ALL SELECT NULL, 1"),
    ("TABLE u", "SELECT * FROM u"),
    ("SELECT every(id > 0), some(id > 6), any(id > 7) FROM emp", "VALUES (true, true, false)"),
    ("SELECT 7 DIV 2 AS d, 7 / 2 AS q", "SELECT 3, 3.5"),
    ("SELECT count(DISTINCT a, b) AS n FROM t", "SELECT count(*) FROM (SELECT DISTINCT a, b FROM t WHERE a + b IS NOT NULL)"),
    (
        "SELECT id, any_value(name) OVER (PARTITION BY dept ORDER BY id) AS n FROM emp",
        "SELECT id, first_value(name) OVER (PARTITION BY dept ORDER BY id) FROM emp",
    ),
    ("SELECT first(s ORDER BY c DESC NULLS LAST) AS f FROM t", "SELECT 'p' WHERE false UNION ALL SELECT NULL"),
    (
        "WITH RECURSIVE r(x, y) AS (SELECT x, y FROM edge UNION SELECT p.x, q.y FROM r p JOIN r q ON p.y = q.x)"
        " SELECT * FROM r",
        "WITH RECURSIVE r(x, y) AS (SELECT x, y FROM edge UNION SELECT r.x, e.y FROM r JOIN edge e ON r.y = e.x)"
        " SELECT * FROM r",
    ),
    (
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT 10 UNION SELECT n + 1 FROM r WHERE n < 3 UNION"
        " SELECT n * 2 FROM r WHERE n < 20) SELECT n FROM r",
        "VALUES (1), (2), (3), (4), (6), (8), (10), (12), (16), (20), (24), (32)",
    ),
    ("SELECT sum(a) OVER (ORDER BY x GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s"
     " FROM VALUES (1, 1), (2, 1), (4, 2), (8, 3) AS v(a, x)", "VALUES (3), (3), (7), (12)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "other"), BOTH)
def test_a_query_in_sparks_words(text: str, other: str) -> None:
    assert difference(ours(text), duck().query(other, translated=True), rough=True) == ""
