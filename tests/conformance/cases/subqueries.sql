--! dataset letters
--! case scalar_in_select
SELECT a, (SELECT MAX(c) FROM s) AS top FROM r
--! case scalar_in_where
SELECT a, b FROM r WHERE a >= (SELECT AVG(a) FROM r)
--! case scalar_correlated
SELECT r.a, r.b, (SELECT SUM(s.c) FROM s WHERE s.b = r.b) AS total FROM r
--! case scalar_correlated_count
SELECT r.a, r.b, (SELECT COUNT(*) FROM s WHERE s.b = r.b) AS n FROM r
--! case scalar_correlated_count_expression
SELECT r.a, r.b, (SELECT COUNT(s.c) + 1 FROM s WHERE s.b = r.b) AS n FROM r
--! case scalar_correlated_where
SELECT r.a, r.b FROM r WHERE r.a > (SELECT COUNT(*) FROM s WHERE s.b = r.b)
--! case scalar_correlated_coalesce
SELECT r.a, COALESCE((SELECT MIN(s.c) FROM s WHERE s.b = r.b), -1) AS low FROM r
--! case scalar_correlated_inequality
SELECT r.a, r.b, (SELECT COUNT(*) FROM s WHERE s.b < r.b) AS below FROM r
--! case scalar_correlated_two_columns
SELECT r.a, r.b, (SELECT COUNT(*) FROM s WHERE s.b = r.b AND s.c > r.a) AS n FROM r
--! case scalar_of_one_row
SELECT a, (SELECT MAX(b) FROM r x WHERE x.a = r.a) AS high FROM r
--! case scalar_empty_is_null
SELECT a, (SELECT c FROM s WHERE c > 1000) AS none FROM r
--! case scalar_in_having
SELECT a, COUNT(*) AS n FROM r GROUP BY a HAVING COUNT(*) >= (SELECT COUNT(*) FROM s WHERE c = 10)
--! case scalar_correlated_in_having
SELECT r.b, COUNT(*) AS n FROM r GROUP BY r.b HAVING COUNT(*) >= (SELECT COUNT(*) FROM s WHERE s.b = r.b)
--! case scalar_in_on
SELECT r.a, s.c FROM r JOIN s ON r.b = s.b AND s.c >= (SELECT MAX(c) FROM t)
--! case scalar_in_left_on
SELECT r.a, s.c FROM r LEFT JOIN s ON r.b = s.b AND s.c = (SELECT MAX(c) FROM t)
--! case scalar_in_case
SELECT a, CASE WHEN a > (SELECT MIN(b) FROM s) THEN 'more' ELSE 'less' END AS k FROM r
--! case scalar_in_aggregate
SELECT SUM(a * (SELECT COUNT(*) FROM t)) AS total FROM r
--! case scalar_nested_twice
SELECT r.a, (SELECT MAX(s.c) FROM s WHERE s.b = r.b AND s.c IN (SELECT t.c FROM t WHERE t.d = 'x')) AS high FROM r
--! case scalar_skipping_level
SELECT r.a, r.b FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.b = r.b AND EXISTS (SELECT 1 FROM t WHERE t.c = s.c AND t.c > r.a))
--! case relation_called_like_a_column_inside
SELECT c.a, c.b FROM r c WHERE EXISTS (SELECT 1 FROM s WHERE s.b = c.b)
--! case relation_called_like_a_column_of_two_tables_inside
SELECT c.a, (SELECT COUNT(*) FROM s JOIN t ON s.c = t.c WHERE s.b = c.b) AS n FROM r c
--! duckdb
SELECT r.a, (SELECT COUNT(*) FROM s JOIN t ON s.c = t.c WHERE s.b = r.b) AS n FROM r
--! case relation_called_like_a_column_two_levels_inside
SELECT c.a, c.b FROM r c WHERE EXISTS (SELECT 1 FROM s WHERE s.c IN (SELECT t.c FROM t WHERE t.c > c.a))
--! case scalar_group_key_correlated
SELECT r.a, (SELECT MAX(x.n) FROM (SELECT s.c, COUNT(*) AS n FROM s WHERE s.b = r.b GROUP BY s.c) x) AS most FROM r
--! case in_subquery
SELECT a, b FROM r WHERE b IN (SELECT b FROM s)
--! case in_subquery_correlated
SELECT a, b FROM r WHERE a * 10 IN (SELECT c FROM s WHERE s.b = r.b)
--! case in_subquery_pair
SELECT a, b FROM r WHERE (a, b) IN (SELECT b, c - 9 FROM s)
--! case in_subquery_expression
SELECT a, b IN (SELECT b FROM s) AS found FROM r
--! case in_subquery_with_or
SELECT a, b FROM r WHERE b IN (SELECT b FROM s) OR a = 4
--! case not_in_subquery
SELECT a, b FROM r WHERE b NOT IN (SELECT b FROM s)
--! case not_in_subquery_without_null
SELECT a, b FROM r WHERE b NOT IN (SELECT b FROM s WHERE b IS NOT NULL)
--! case not_in_correlated
SELECT a, b FROM r WHERE a NOT IN (SELECT c - 9 FROM s WHERE s.b = r.b)
--! case not_in_expression
SELECT a, b NOT IN (SELECT b FROM s WHERE c = 10) AS missing FROM r
--! case not_in_empty
SELECT a, b FROM r WHERE b NOT IN (SELECT b FROM s WHERE c > 1000)
--! case exists
SELECT a, b FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.b = r.b)
--! case not_exists
SELECT a, b FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.b = r.b)
--! case exists_uncorrelated
SELECT a FROM r WHERE EXISTS (SELECT 1 FROM s WHERE c = 12)
--! case exists_in_select
SELECT a, b, EXISTS (SELECT 1 FROM s WHERE s.b = r.b AND s.c = 10) AS found FROM r
--! case exists_inequality
SELECT a, b FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.b > r.b)
--! case exists_or_exists
SELECT a, b FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.b = r.b) OR EXISTS (SELECT 1 FROM t WHERE t.c = r.a * 10)
--! case exists_with_aggregate
SELECT a, b FROM r WHERE EXISTS (SELECT s.c FROM s WHERE s.b = r.b GROUP BY s.c HAVING COUNT(*) > 1)
--! case exists_aggregate_without_group_is_true
SELECT a, b FROM r WHERE EXISTS (SELECT COUNT(*) FROM s WHERE s.b = r.b)
--! case any_greater
SELECT a, b FROM r WHERE b > ANY (SELECT b FROM s)
--! duckdb
SELECT a, b FROM r WHERE b > ANY (SELECT b FROM s)
--! case some_equal
SELECT a, b FROM r WHERE b = SOME (SELECT b FROM s)
--! duckdb
SELECT a, b FROM r WHERE b IN (SELECT b FROM s)
--! case all_greater
SELECT a, b FROM r WHERE b >= ALL (SELECT b FROM s)
--! duckdb
SELECT a, b FROM r WHERE b >= ALL (SELECT b FROM s)
--! case all_not_equal_correlated
SELECT a, b FROM r WHERE a <> ALL (SELECT c - 9 FROM s WHERE s.b = r.b)
--! duckdb
SELECT a, b FROM r WHERE a <> ALL (SELECT c - 9 FROM s WHERE s.b = r.b)
--! case from_subquery
SELECT x.a, x.n FROM (SELECT a, COUNT(*) AS n FROM r GROUP BY a) x WHERE x.n > 1
--! case from_subquery_nested
SELECT y.n FROM (SELECT n FROM (SELECT a, COUNT(*) AS n FROM r GROUP BY a) x WHERE n < 3) y
--! case with
WITH x AS (SELECT b, COUNT(*) AS n FROM r GROUP BY b), y AS (SELECT b, SUM(c) AS m FROM s GROUP BY b) SELECT x.b, x.n, y.m FROM x LEFT JOIN y ON x.b = y.b
--! case with_twice_used
WITH x AS (SELECT b, COUNT(*) AS n FROM r GROUP BY b) SELECT p.b AS pb, q.b AS qb FROM x p JOIN x q ON p.n = q.n AND p.b < q.b
--! case with_maximum
WITH x AS (SELECT b, SUM(c) AS total FROM s GROUP BY b) SELECT b, total FROM x WHERE total = (SELECT MAX(total) FROM x)
--! case with_column_names
WITH x(p, q) AS (SELECT a, b FROM r) SELECT q, p FROM x WHERE p > 1
--! case with_nested
WITH x AS (WITH y AS (SELECT a FROM r WHERE a > 1) SELECT a + 1 AS a FROM y) SELECT a, COUNT(*) AS n FROM x GROUP BY a
--! case correlated_in_derived
SELECT r.a, (SELECT COUNT(*) FROM (SELECT DISTINCT c FROM s WHERE s.b = r.b) d) AS kinds FROM r
--! case correlated_distinct
SELECT r.a, (SELECT COUNT(DISTINCT s.c) FROM s WHERE s.b = r.b) AS kinds FROM r
--! case correlated_union
SELECT r.a, r.b FROM r WHERE r.a IN (SELECT s.b FROM s WHERE s.c > 10 UNION SELECT t.c FROM t)
--! case subquery_in_group_by
SELECT k, COUNT(*) AS n FROM (SELECT (SELECT COUNT(*) FROM s WHERE s.b = r.b) AS k FROM r) x GROUP BY k
--! dataset shop
--! case customers_above_average
SELECT c.name, o.total FROM customers c JOIN orders o ON o.customer = c.id WHERE o.total > (SELECT AVG(p.total) FROM orders p WHERE p.customer = c.id)
--! case customers_without_orders
SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id))
--! case largest_order
SELECT id, total FROM orders WHERE total = (SELECT MAX(total) FROM orders)
--! case share_of_total
SELECT id, total / (SELECT SUM(total) FROM orders) AS share FROM orders WHERE total > 0
--! case customers_with_every_product
SELECT c.name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM products p WHERE p.category = 'large' AND NOT EXISTS (SELECT 1 FROM orders o JOIN items i ON i.order_id = o.id WHERE o.customer = c.id AND i.product = p.name))
