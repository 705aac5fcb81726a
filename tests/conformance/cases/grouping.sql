--! dataset letters
--! case by_column
SELECT a, COUNT(*) AS n, SUM(b) AS total FROM r GROUP BY a
--! case by_expression
SELECT a % 2 AS parity, COUNT(*) AS n FROM r GROUP BY a % 2
--! case by_position
SELECT a + b AS k, COUNT(*) AS n FROM r GROUP BY 1
--! case by_alias
SELECT CASE WHEN a > 2 THEN 'high' WHEN a <= 2 THEN 'low' END AS level, COUNT(*) AS n FROM r GROUP BY level
--! case by_all
SELECT a, b, COUNT(*) AS n FROM r GROUP BY ALL
--! case by_constant
SELECT 'all' AS k, COUNT(*) AS n, SUM(a) AS total FROM r GROUP BY 'all'
--! duckdb
SELECT 'all' AS k, COUNT(*) AS n, SUM(a) AS total FROM r HAVING COUNT(*) > 0
--! case keys_only
SELECT b FROM r GROUP BY b
--! case key_not_selected
SELECT COUNT(*) AS n FROM r GROUP BY b
--! case none
SELECT COUNT(*) AS n, COUNT(a) AS na, SUM(a) AS total, MIN(a) AS low, MAX(b) AS high, AVG(a) AS mean FROM r
--! case none_filtered_to_nothing
SELECT COUNT(*) AS n, SUM(a) AS total FROM r WHERE a > 100
--! case none_having
SELECT COUNT(*) AS n FROM r HAVING COUNT(*) > 6
--! case having
SELECT a, COUNT(*) AS n FROM r GROUP BY a HAVING COUNT(*) > 1
--! case having_other_aggregate
SELECT a FROM r GROUP BY a HAVING SUM(b) >= 2 AND MIN(b) < 3
--! case having_on_key
SELECT a, SUM(b) AS total FROM r GROUP BY a HAVING a IS NULL OR a > 1
--! case expression_over_aggregates
SELECT a, SUM(b) * 2 + COUNT(*) AS score, MAX(b) - MIN(b) AS spread FROM r GROUP BY a
--! case aggregate_of_expression
SELECT a, SUM(COALESCE(b, 0) * 3) AS total FROM r GROUP BY a
--! case zero_sum_group_stays
SELECT a, SUM(b - b) AS zero FROM r GROUP BY a
--! case nested_aggregation
SELECT n, COUNT(*) AS groups FROM (SELECT a, COUNT(*) AS n FROM r GROUP BY a) x GROUP BY n
--! case aggregate_of_maximum
SELECT MAX(n) AS most, SUM(n) AS total FROM (SELECT a, COUNT(*) AS n FROM r GROUP BY a) x
--! case rollup
SELECT a, b, COUNT(*) AS n FROM r GROUP BY ROLLUP (a, b)
--! case rollup_with
SELECT a, b, SUM(b) AS n FROM r GROUP BY a, b WITH ROLLUP
--! duckdb
SELECT a, b, SUM(b) AS n FROM r GROUP BY ROLLUP (a, b)
--! case cube
SELECT a, b, COUNT(*) AS n, SUM(a) AS total FROM r GROUP BY CUBE (a, b)
--! case grouping_sets
SELECT a, b, COUNT(*) AS n FROM r GROUP BY GROUPING SETS ((a), (b), (a, b), ())
--! case grouping_sets_without_empty
SELECT a, b, COUNT(*) AS n FROM r GROUP BY GROUPING SETS ((a), (b))
--! case grouping_function
SELECT a, b, GROUPING(a) AS ga, GROUPING(b) AS gb, COUNT(*) AS n FROM r GROUP BY CUBE (a, b)
--! case grouping_id
SELECT a, b, GROUPING_ID(a, b) AS gid, COUNT(*) AS n FROM r GROUP BY ROLLUP (a, b)
--! case grouping_having
SELECT a, b, COUNT(*) AS n FROM r GROUP BY CUBE (a, b) HAVING GROUPING(a) = 1 OR COUNT(*) > 1
--! case grouping_mixed
SELECT a, b, COUNT(*) AS n FROM r GROUP BY a, ROLLUP (b)
--! case filter
SELECT a, COUNT(*) FILTER (WHERE b > 1) AS n, SUM(b) FILTER (WHERE b < 3) AS total, MIN(b) FILTER (WHERE b > 1) AS low FROM r GROUP BY a
--! case filter_without_group
SELECT COUNT(*) FILTER (WHERE a IS NULL) AS nulls, SUM(b) FILTER (WHERE a = 1) AS ones FROM r
--! case group_after_join
SELECT s.c, COUNT(*) AS n, MIN(r.a) AS low, MAX(r.a) AS high FROM r JOIN s ON r.b = s.b GROUP BY s.c
--! case group_after_group_join
SELECT y.n, COUNT(*) AS k FROM t JOIN (SELECT c, COUNT(*) AS n FROM s GROUP BY c) y ON t.c = y.c GROUP BY y.n
--! dataset shop
--! case by_date_part
SELECT year(day) AS y, month(day) AS m, SUM(total) AS total FROM orders GROUP BY year(day), month(day)
--! case distinct_having
SELECT DISTINCT status FROM orders WHERE total > 5 GROUP BY status, customer HAVING COUNT(*) >= 1
--! dataset letters
--! case subquery_as_key
SELECT (SELECT MAX(c) FROM s WHERE s.b = r.b) AS m, COUNT(*) AS n, SUM(a) AS total FROM r GROUP BY (SELECT MAX(c) FROM s WHERE s.b = r.b)
--! case subquery_as_key_by_alias
SELECT (SELECT COUNT(*) FROM s WHERE s.b = r.b) AS m, COUNT(*) AS n FROM r GROUP BY m
--! case subquery_as_key_by_position
SELECT (SELECT MIN(c) FROM s) AS m, MAX(a) AS high FROM r GROUP BY 1
--! case exists_as_key
SELECT EXISTS (SELECT 1 FROM s WHERE s.b = r.b) AS e, COUNT(*) AS n FROM r GROUP BY EXISTS (SELECT 1 FROM s WHERE s.b = r.b)
--! case in_as_key
SELECT b IN (SELECT b FROM s) AS e, COUNT(*) AS n, SUM(a) AS total FROM r GROUP BY b IN (SELECT b FROM s)
--! case subquery_within_key
SELECT a + (SELECT COUNT(*) FROM s WHERE s.b = r.b) + 1 AS m, COUNT(*) AS n FROM r GROUP BY a + (SELECT COUNT(*) FROM s WHERE s.b = r.b)
--! case case_of_exists_as_key
SELECT CASE WHEN EXISTS (SELECT 1 FROM s WHERE s.b = r.b) THEN 'found' ELSE 'lost' END AS k, COUNT(*) AS n FROM r GROUP BY CASE WHEN EXISTS (SELECT 1 FROM s WHERE s.b = r.b) THEN 'found' ELSE 'lost' END
--! case subquery_as_key_and_having
SELECT (SELECT MAX(c) FROM s WHERE s.b = r.b) AS m, COUNT(*) AS n FROM r GROUP BY (SELECT MAX(c) FROM s WHERE s.b = r.b) HAVING (SELECT MAX(c) FROM s WHERE s.b = r.b) >= 10 OR COUNT(*) > 1
--! case subquery_as_key_and_order
SELECT (SELECT MAX(c) FROM s WHERE s.b = r.b) AS m, COUNT(*) AS n FROM r GROUP BY (SELECT MAX(c) FROM s WHERE s.b = r.b) ORDER BY (SELECT MAX(c) FROM s WHERE s.b = r.b) DESC NULLS LAST LIMIT 2
--! case subquery_in_grouping_sets
SELECT (SELECT MAX(c) FROM s WHERE s.b = r.b) AS m, a, COUNT(*) AS n FROM r GROUP BY GROUPING SETS (((SELECT MAX(c) FROM s WHERE s.b = r.b)), ((SELECT MAX(c) FROM s WHERE s.b = r.b), a), ())
--! duckdb
SELECT m, a, COUNT(*) AS n FROM (SELECT a, (SELECT MAX(c) FROM s WHERE s.b = r.b) AS m FROM r) x GROUP BY GROUPING SETS ((m), (m, a), ())
--! case subquery_in_rollup
SELECT EXISTS (SELECT 1 FROM s WHERE s.b = r.b) AS e, a, COUNT(*) AS n, GROUPING(EXISTS (SELECT 1 FROM s WHERE s.b = r.b)) AS g FROM r GROUP BY ROLLUP (EXISTS (SELECT 1 FROM s WHERE s.b = r.b), a)
--! duckdb
SELECT e, a, COUNT(*) AS n, GROUPING(e) AS g FROM (SELECT a, EXISTS (SELECT 1 FROM s WHERE s.b = r.b) AS e FROM r) x GROUP BY ROLLUP (e, a)
--! case subquery_as_key_under_window
SELECT (SELECT MAX(c) FROM s WHERE s.b = r.b) AS m, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*), (SELECT MAX(c) FROM s WHERE s.b = r.b)) AS place FROM r GROUP BY (SELECT MAX(c) FROM s WHERE s.b = r.b)
--! duckdb
SELECT m, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*), m NULLS FIRST) AS place FROM (SELECT (SELECT MAX(c) FROM s WHERE s.b = r.b) AS m FROM r) x GROUP BY m
--! case subquery_as_key_spelled_differently
SELECT (select max(C) from S where S.B = R.B) AS m, COUNT(*) AS n FROM r GROUP BY ((SELECT MAX(c) FROM s WHERE s.b = r.b))
--! case subquery_as_key_group_by_all
SELECT (SELECT MAX(c) FROM s WHERE s.b = r.b) AS m, a, COUNT(*) AS n FROM r GROUP BY ALL
