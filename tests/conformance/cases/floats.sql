--! dataset floats
--! case average_that_is_nan
--! view averages
SELECT g, AVG(x) AS a FROM f GROUP BY g
--! query
SELECT a, COUNT(*) AS n FROM averages GROUP BY a
--! case averages_with_nan_in_every_form
--! view averages
SELECT g, AVG(DISTINCT x) AS a, AVG(x) FILTER (WHERE id > 1) AS b, AVG(x * 1) AS c, AVG(CASE WHEN id > 0 THEN x END) AS d FROM f GROUP BY g
--! query
SELECT a, b, c, d, COUNT(*) AS n FROM averages GROUP BY a, b, c, d
--! case average_of_all_that_is_nan
--! view averages
SELECT AVG(x) AS a FROM f
--! query
SELECT DISTINCT a FROM averages
--! case average_over_window_that_is_nan
--! view averages
SELECT id, AVG(x) OVER (PARTITION BY g) AS a, AVG(x) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS b FROM f
--! query
SELECT a, b, COUNT(*) AS n FROM averages GROUP BY a, b
--! case logarithm_that_is_nan
--! view logs
SELECT id, LOG(2.0, x) AS a FROM f WHERE x > 0
--! query
SELECT a, COUNT(*) AS n FROM logs GROUP BY a
--! duckdb
SELECT a, COUNT(*) AS n FROM (SELECT LOG(2.0, x) AS a FROM f WHERE x > 0) GROUP BY a
--! case group_by_either_zero
--! view zeros
SELECT x, COUNT(*) AS n FROM f GROUP BY x
--! query
SELECT CAST(x AS STRING) AS s, n FROM zeros WHERE x = 0
--! duckdb
SELECT '0.0', COUNT(*) FROM f WHERE x = 0 HAVING COUNT(*) > 0
--! case distinct_zeros
SELECT CAST(x AS STRING) AS s FROM (SELECT DISTINCT x, g FROM f WHERE x = 0) AS z
--! duckdb
SELECT '0.0' FROM (SELECT DISTINCT g FROM f WHERE x = 0)
--! case joined_zeros
SELECT CAST(a.x AS STRING) AS s, CAST(b.x AS STRING) AS t, a.id, b.id AS other FROM f a JOIN f b ON a.x = b.x WHERE a.x = 0
--! duckdb
SELECT '0.0', '0.0', a.id, b.id FROM f a JOIN f b ON a.x = b.x WHERE a.x = 0
--! case stored_and_computed_zeros
SELECT id, CAST(x AS STRING) AS a, CAST(-x AS STRING) AS b, CAST(x * -1 AS STRING) AS c, CAST(x / -2 AS STRING) AS d, CAST(CAST('-0.0' AS DOUBLE) AS STRING) AS e FROM f WHERE x = 0
--! duckdb
SELECT id, '0.0', '0.0', '0.0', '0.0', '0.0' FROM f WHERE x = 0
--! case zeros_of_windows
SELECT id, CAST(MIN(x) OVER (PARTITION BY x) AS STRING) AS a, CAST(AVG(x) OVER (PARTITION BY x) AS STRING) AS b FROM f WHERE x = 0
--! duckdb
SELECT id, '0.0', '0.0' FROM f WHERE x = 0
--! case zeros_in_sets
SELECT CAST(x AS STRING) AS s FROM (SELECT x FROM f WHERE x = 0 UNION SELECT -x FROM f WHERE x = 0) AS z
--! duckdb
SELECT DISTINCT '0.0' FROM f WHERE x = 0
--! case inequality_with_nan
SELECT COUNT(*) AS n FROM f a JOIN f b ON a.x < b.x
--! case inequality_with_nan_included
SELECT a.g, COUNT(*) AS n FROM f a JOIN f b ON a.x >= b.x GROUP BY a.g
--! case products_of_floats
SELECT a.g, SUM(a.x * b.x) AS p, SUM(b.x) AS s FROM f a JOIN f b ON a.g = b.g GROUP BY a.g
