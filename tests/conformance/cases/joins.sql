--! dataset letters
--! case inner
SELECT r.a, r.b, s.c FROM r JOIN s ON r.b = s.b
--! case inner_comma
SELECT r.a, s.c FROM r, s WHERE r.b = s.b AND s.c > 10
--! case inner_three
SELECT r.a, s.c, t.d FROM r JOIN s ON r.b = s.b JOIN t ON s.c = t.c
--! case inner_null_safe
SELECT r.a, s.c FROM r JOIN s ON r.b <=> s.b
--! case inner_expression_key
SELECT r.a, s.c FROM r JOIN s ON r.b + 1 = s.b * 2
--! case inner_two_keys
SELECT r.a, r.b FROM r JOIN s ON r.b = s.b AND r.a * 10 = s.c
--! case inner_residual
SELECT r.a, s.c FROM r JOIN s ON r.b = s.b AND r.a < s.c - 8
--! case inequality
SELECT r.a, r.b, s.b AS sb, s.c FROM r JOIN s ON r.b < s.b
--! case band
SELECT r.a, s.b FROM r JOIN s ON s.b BETWEEN r.a - 1 AND r.a + 1
--! case inequality_sums
SELECT COUNT(*) AS n, SUM(s.c) AS x, SUM(r.a * s.c) AS y, SUM(r.a) AS z FROM r JOIN s ON r.b < s.b
--! case inequality_sums_by_key
SELECT r.a, COUNT(*) AS n, SUM(s.c) AS x FROM r JOIN s ON r.b = s.b AND s.c > r.a + 9 GROUP BY r.a
--! case inequality_sums_three
SELECT COUNT(*) AS n, SUM(r.a * t.c) AS x FROM r JOIN s ON r.b >= s.b JOIN t ON s.c = t.c
--! case band_sums
SELECT COUNT(*) AS n, SUM(s.c) AS x FROM r JOIN s ON s.b BETWEEN r.a - 1 AND r.a + 1
--! case band_that_is_empty
SELECT COUNT(*) AS n, SUM(s.c) AS x FROM r JOIN s ON s.b > r.a AND s.b < r.b
--! case thresholds_that_move
SELECT COUNT(*) AS n, SUM(s.c - r.a) AS x FROM r, s WHERE r.a * 3 > (SELECT SUM(a) FROM r) AND s.c > (SELECT AVG(c) FROM s)
--! case inequality_with_itself
SELECT COUNT(*) AS n, SUM(x.a * y.a) AS z FROM r x JOIN r y ON x.b < y.b
--! case inequality_with_itself_twice
SELECT COUNT(*) AS n FROM r x JOIN r y ON x.b < y.b JOIN r z ON y.a <= z.a
--! case inner_or
SELECT r.a, r.b, s.b AS sb, s.c FROM r JOIN s ON r.a = s.b OR r.b = s.b
--! case cross
SELECT r.a, s.c FROM r CROSS JOIN s
--! case left
SELECT r.a, r.b, s.c FROM r LEFT JOIN s ON r.b = s.b
--! case left_on_left_condition
SELECT r.a, r.b, s.c FROM r LEFT JOIN s ON r.b = s.b AND r.a > 1
--! case left_on_right_condition
SELECT r.a, r.b, s.c FROM r LEFT JOIN s ON r.b = s.b AND s.c = 10
--! case left_where_right_condition
SELECT r.a, r.b, s.c FROM r LEFT JOIN s ON r.b = s.b WHERE s.c = 10 OR s.c IS NULL
--! case left_null_test
SELECT r.a, r.b FROM r LEFT JOIN s ON r.b = s.b WHERE s.b IS NULL
--! case left_inequality
SELECT r.a, s.b FROM r LEFT JOIN s ON r.b > s.b
--! case left_cross_condition
SELECT r.a, s.b, s.c FROM r LEFT JOIN s ON s.c = 11
--! case left_chain
SELECT r.a, s.c, t.d FROM r LEFT JOIN s ON r.b = s.b LEFT JOIN t ON s.c = t.c
--! case left_of_inner
SELECT r.a, x.c, x.d FROM r LEFT JOIN (SELECT s.b, s.c, t.d FROM s JOIN t ON s.c = t.c) x ON r.b = x.b
--! case left_aggregated
SELECT r.a, COUNT(s.c) AS n, COUNT(*) AS m, SUM(s.c) AS total FROM r LEFT JOIN s ON r.b = s.b GROUP BY r.a
--! case right
SELECT r.a, s.b, s.c FROM r RIGHT JOIN s ON r.b = s.b
--! case right_condition
SELECT r.a, s.b, s.c FROM r RIGHT OUTER JOIN s ON r.b = s.b AND r.a <> 1
--! case full
SELECT r.a, r.b, s.b AS sb, s.c FROM r FULL JOIN s ON r.b = s.b
--! case full_condition
SELECT r.a, r.b, s.b AS sb, s.c FROM r FULL OUTER JOIN s ON r.b = s.b AND r.a < 3 AND s.c > 10
--! case full_twice
SELECT r.a, s.c, t.d FROM r FULL JOIN s ON r.b = s.b FULL JOIN t ON s.c = t.c
--! case full_filtered
SELECT r.a, s.c FROM r FULL JOIN s ON r.b = s.b WHERE r.a IS NULL OR s.c IS NULL
--! case semi
SELECT a, b FROM r LEFT SEMI JOIN s ON r.b = s.b
--! case semi_condition
SELECT a, b FROM r LEFT SEMI JOIN s ON r.b = s.b AND s.c > r.a + 9
--! case anti
SELECT a, b FROM r LEFT ANTI JOIN s ON r.b = s.b
--! case anti_condition
SELECT a, b FROM r LEFT ANTI JOIN s ON r.b = s.b AND s.c = 10
--! case anti_inequality
SELECT a, b FROM r LEFT ANTI JOIN s ON r.b < s.b
--! case natural
SELECT * FROM r NATURAL JOIN s
--! duckdb
SELECT b, a, c FROM r NATURAL JOIN s
--! case natural_left
SELECT * FROM r NATURAL LEFT JOIN s
--! duckdb
SELECT b, a, c FROM r NATURAL LEFT JOIN s
--! case natural_full
SELECT * FROM r NATURAL FULL JOIN s
--! duckdb
SELECT b, a, c FROM r NATURAL FULL JOIN s
--! case using
SELECT b, a, c FROM r JOIN s USING (b)
--! case using_left
SELECT b, a, c FROM r LEFT JOIN s USING (b)
--! case using_right
SELECT b, a, c FROM r RIGHT JOIN s USING (b)
--! case using_full
SELECT b, a, c FROM r FULL JOIN s USING (b)
--! case using_chain
SELECT * FROM r JOIN s USING (b) JOIN t USING (c)
--! duckdb
SELECT c, b, a, d FROM r JOIN s USING (b) JOIN t USING (c)
--! case self
SELECT x.a AS xa, y.a AS ya FROM r x JOIN r y ON x.b = y.b
--! case self_inequality
SELECT x.a AS xa, y.a AS ya FROM r x JOIN r y ON x.b = y.b AND x.a < y.a
--! case self_chain
SELECT x.a AS xa, y.b AS yb FROM r x JOIN r y ON x.b = y.a
--! case self_three
SELECT x.a AS xa, y.a AS ya, z.b AS zb FROM r x JOIN r y ON x.b = y.a JOIN r z ON y.b = z.a
--! case self_triangle
SELECT COUNT(*) AS triangles FROM r x, r y, r z WHERE x.b = y.a AND y.b = z.a AND z.b = x.a
--! case self_left
SELECT x.a, y.a AS ya FROM r x LEFT JOIN r y ON x.b = y.a
--! case self_anti
SELECT x.a, x.b FROM r x WHERE NOT EXISTS (SELECT 1 FROM r y WHERE y.a = x.b)
--! case lateral_aggregate
SELECT r.a, r.b, l.m, l.n FROM r, LATERAL (SELECT MAX(s.c) AS m, COUNT(*) AS n FROM s WHERE s.b = r.b) l
--! case lateral_rows
SELECT r.a, l.c FROM r JOIN LATERAL (SELECT s.c FROM s WHERE s.b = r.b AND s.c > r.a) l
--! duckdb
SELECT r.a, l.c FROM r JOIN LATERAL (SELECT s.c FROM s WHERE s.b = r.b AND s.c > r.a) l ON TRUE
--! case lateral_left
SELECT r.a, l.c FROM r LEFT JOIN LATERAL (SELECT s.c FROM s WHERE s.b = r.b) l
--! duckdb
SELECT r.a, l.c FROM r LEFT JOIN LATERAL (SELECT s.c FROM s WHERE s.b = r.b) l ON TRUE
--! case outer_apply
SELECT r.a, l.c FROM r OUTER APPLY (SELECT s.c FROM s WHERE s.b = r.b) l
--! duckdb
SELECT r.a, l.c FROM r LEFT JOIN LATERAL (SELECT s.c FROM s WHERE s.b = r.b) l ON TRUE
--! case cross_apply
SELECT r.a, l.c FROM r CROSS APPLY (SELECT s.c FROM s WHERE s.b = r.b) l
--! duckdb
SELECT r.a, l.c FROM r CROSS JOIN LATERAL (SELECT s.c FROM s WHERE s.b = r.b) l
--! case lateral_top
SELECT r.a, r.b, l.c FROM r, LATERAL (SELECT s.c FROM s WHERE s.b = r.b ORDER BY s.c DESC LIMIT 1) l
--! case lateral_inequality
SELECT r.a, r.b, l.n FROM r, LATERAL (SELECT COUNT(*) AS n FROM s WHERE s.b < r.b) l
--! case join_of_aggregates
SELECT x.b, x.n, y.m FROM (SELECT b, COUNT(*) AS n FROM r GROUP BY b) x JOIN (SELECT b, MAX(c) AS m FROM s GROUP BY b) y ON x.b = y.b
--! case join_aggregate_higher_order
SELECT t.d, SUM(r.a * s.c) AS total, COUNT(*) AS n FROM r JOIN s ON r.b = s.b JOIN t ON s.c = t.c GROUP BY t.d
--! case column_equal_to_two
SELECT r.a, r.b, y.b AS yb, y.n FROM r LEFT JOIN (SELECT b, COUNT(*) AS n FROM s GROUP BY b) y ON r.a = y.b AND r.b = y.b
--! case scalar_equal_to_two
SELECT r.a, r.b, y.m FROM r LEFT JOIN (SELECT MAX(c) AS m FROM s) y ON r.a = y.m AND r.b = y.m
--! case scalar_matched_grouped
SELECT y.n, r.b, SUM(r.a) AS total, MAX(y.m) AS m FROM r LEFT JOIN (SELECT MAX(c) AS m, COUNT(*) AS n FROM s) y ON r.a = y.m GROUP BY y.n, r.b
--! case scalar_matched_distinct
SELECT DISTINCT y.n, r.b FROM r LEFT JOIN (SELECT MAX(c) AS m, COUNT(*) AS n FROM s) y ON r.a = y.m
--! case group_matched_distinct
SELECT DISTINCT y.n, y.b AS yb, r.b FROM r LEFT JOIN (SELECT b, COUNT(*) AS n FROM s GROUP BY b) y ON r.a = y.b
--! case scalar_beside_two
SELECT r.b, y.n, COUNT(t.d) AS total FROM r JOIN t ON t.c = r.b LEFT JOIN (SELECT MIN(c) AS m, COUNT(*) AS n FROM s) y ON r.a = y.m GROUP BY r.b, y.n
--! case absent_equal_to_two
SELECT r.a, r.b FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.b = r.a AND s.b = r.b)
--! case constant_condition_false
SELECT r.a, s.c FROM r LEFT JOIN s ON FALSE
--! case constant_condition_true
SELECT r.a, s.c FROM r LEFT JOIN s ON TRUE
--! dataset shop
--! case keyed_three
SELECT c.name, o.id, i.product, i.quantity * i.price AS amount FROM customers c JOIN orders o ON o.customer = c.id JOIN items i ON i.order_id = o.id
--! case keyed_left
SELECT c.name, o.total FROM customers c LEFT JOIN orders o ON o.customer = c.id
--! case keyed_full
SELECT c.id, c.name, o.id AS o_id, o.total FROM customers c FULL JOIN orders o ON o.customer = c.id
--! case keyed_four
SELECT c.city, p.category, SUM(i.quantity) AS q, SUM(i.price * i.quantity) AS amount FROM customers c JOIN orders o ON o.customer = c.id JOIN items i ON i.order_id = o.id JOIN products p ON p.name = i.product GROUP BY c.city, p.category
