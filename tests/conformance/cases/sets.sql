--! dataset letters
--! case distinct
SELECT DISTINCT a, b FROM r
--! case distinct_one_column
SELECT DISTINCT b FROM r
--! case distinct_expression
SELECT DISTINCT a % 2 AS p FROM r
--! case distinct_join
SELECT DISTINCT r.a, s.c FROM r JOIN s ON r.b = s.b
--! case distinct_all_rows
SELECT DISTINCT * FROM t
--! case union_all
SELECT a, b FROM r UNION ALL SELECT b, c FROM s
--! case union
SELECT a, b FROM r UNION SELECT b, c FROM s
--! case union_distinct
SELECT b FROM r UNION DISTINCT SELECT b FROM s
--! case union_same
SELECT a FROM r UNION ALL SELECT a FROM r
--! case union_three
SELECT a AS k FROM r UNION SELECT b FROM s UNION ALL SELECT c FROM t
--! case union_types_widen
SELECT a AS k FROM r UNION ALL SELECT CAST(c AS BIGINT) FROM s
--! case intersect
SELECT a, b FROM r INTERSECT SELECT b, c FROM s
--! case intersect_column
SELECT b FROM r INTERSECT SELECT b FROM s
--! case intersect_all
SELECT b FROM r INTERSECT ALL SELECT b FROM s
--! case except
SELECT b FROM r EXCEPT SELECT b FROM s
--! case except_all
SELECT b FROM r EXCEPT ALL SELECT b FROM s
--! case except_reversed
SELECT b FROM s EXCEPT SELECT b FROM r
--! case minus
SELECT b FROM r MINUS SELECT b FROM s
--! case except_self
SELECT a FROM r EXCEPT ALL SELECT a FROM r WHERE b > 1
--! case nested_operations
(SELECT b FROM r UNION SELECT b FROM s) EXCEPT (SELECT b FROM r INTERSECT SELECT b FROM s)
--! case precedence
SELECT b FROM r UNION SELECT b FROM s INTERSECT SELECT c FROM t
--! case union_grouped
SELECT k, COUNT(*) AS n FROM (SELECT a AS k FROM r UNION ALL SELECT b FROM s) u GROUP BY k
--! case join_of_unions
SELECT u.k, t.d FROM (SELECT a AS k FROM r UNION ALL SELECT c FROM s) u JOIN t ON u.k = t.c
--! case union_with_values
SELECT a FROM r UNION ALL SELECT * FROM VALUES (1), (2), (NULL) AS v(x)
--! case values
SELECT * FROM VALUES (1, 'a'), (2, NULL) AS v(x, y)
--! case values_joined
SELECT r.a, v.y FROM r JOIN (VALUES (1, 'one'), (2, 'two')) AS v(x, y) ON r.a = v.x
--! case values_aggregated
SELECT COUNT(*) AS n, SUM(x) AS total FROM VALUES (1), (2), (3) AS v(x)
--! case select_without_from
SELECT 1 AS one, 'a' AS letter
--! case filter_null_logic
SELECT a, b FROM r WHERE a > 1 OR b > 1
--! case filter_not
SELECT a, b FROM r WHERE NOT (a = 1 AND b = 1)
--! case filter_in_list
SELECT a, b FROM r WHERE a IN (1, 3, NULL)
--! case filter_not_in_list
SELECT a, b FROM r WHERE a NOT IN (1, 3)
--! case filter_not_in_list_with_null
SELECT a, b FROM r WHERE a NOT IN (1, NULL)
--! case filter_is_distinct
SELECT a, b FROM r WHERE a IS DISTINCT FROM b
--! case filter_is_true
SELECT a, b FROM r WHERE (a = b) IS NOT TRUE
--! case filter_between
SELECT a, b FROM r WHERE b NOT BETWEEN 2 AND 3
--! case filter_constant
SELECT a FROM r WHERE 1 = 1 AND 2 > 1
--! case filter_false
SELECT a FROM r WHERE 1 = 0
--! case projection_collapses_duplicates_not
SELECT b FROM r
--! case star_except
SELECT * EXCEPT (b) FROM r
--! duckdb
SELECT a FROM r
--! case qualified_star
SELECT r.*, s.c FROM r JOIN s ON r.b = s.b
