--! dataset operands
--! case sum_of_quotient
SELECT SUM(x / NULLIF(y, 0)) AS s, AVG(x / NULLIF(y, 0)) AS a FROM o
--! case sum_of_quotient_by_group
SELECT g, SUM(x * NULLIF(y, 0)) AS s, AVG(x * NULLIF(y, 0)) AS a, COUNT(x * NULLIF(y, 0)) AS n FROM o GROUP BY g
--! case sum_of_struct_members
SELECT g, SUM(p.x * p.y) AS s, AVG(p.x + p.y) AS a FROM o GROUP BY g
--! case sum_of_array_items
SELECT g, SUM(a[0] * a[1]) AS s FROM o GROUP BY g
--! duckdb
SELECT g, SUM(a[1] * a[2]) AS s FROM o GROUP BY g
--! case sum_of_map_items
SELECT g, SUM(m['x'] * m['y']) AS s FROM o GROUP BY g
--! case sum_of_cases
SELECT g, SUM(x * CASE WHEN y > 0 THEN y END) AS s FROM o GROUP BY g
--! case sum_of_attempts
SELECT g, SUM(TRY_DIVIDE(x, y) + TRY_DIVIDE(y, x)) AS s FROM o GROUP BY g
--! duckdb
SELECT g, SUM(x / NULLIF(y, 0) + y / NULLIF(x, 0)) AS s FROM o GROUP BY g
--! case sum_of_filtered_operands
SELECT g, SUM(x * NULLIF(y, 0)) FILTER (WHERE x > 1) AS s, SUM(p.x * p.y) FILTER (WHERE p.x > p.y) AS t FROM o GROUP BY g
--! case sum_of_negated_sum
SELECT g, SUM(-(d + d)) AS s, AVG(-(d * d)) AS a FROM o GROUP BY g
--! case ledger_of_line_items
SELECT g, SUM(i.x * i.y) AS total, COUNT(*) AS n FROM (SELECT g, EXPLODE(items) AS i FROM o) AS l GROUP BY g
--! duckdb
SELECT g, SUM(i.x * i.y) AS total, COUNT(*) AS n FROM (SELECT g, UNNEST(items) AS i FROM o) AS l GROUP BY g
--! case elements_with_positions
SELECT id, TRANSFORM(a, (v, i) -> v + i) AS t, FILTER(a, (v, i) -> i > 0) AS f FROM o
--! duckdb
SELECT id, list_transform(a, lambda v, i: v + i - 1) AS t, list_filter(a, lambda v, i: i > 1) AS f FROM o
--! case elements_without_positions
SELECT id, TRANSFORM(a, v -> v * 2) AS t, FILTER(a, v -> v > 1) AS f, EXISTS(a, v -> v > 3) AS e, FORALL(a, v -> v < 9) AS l FROM o
--! duckdb none: DuckDB has no EXISTS and FORALL over lists
--! case functions_of_two_elements
SELECT id, ZIP_WITH(a, a, (v, w) -> v * w) AS z, ARRAY_SORT(a, (v, w) -> CASE WHEN v > w THEN -1 WHEN v < w THEN 1 ELSE 0 END) AS s, AGGREGATE(a, 0L, (t, v) -> t + COALESCE(v, 0)) AS r, AGGREGATE(a, 0L, (t, v) -> t + COALESCE(v, 0), t -> t * 10) AS q, REDUCE(a, 1L, (t, v) -> t * COALESCE(v, 1)) AS p FROM o WHERE NOT EXISTS(a, v -> v IS NULL)
--! duckdb none: DuckDB spells these otherwise
--! case functions_of_entries
SELECT id, MAP_FILTER(m, (k, v) -> v > 1) AS f, TRANSFORM_VALUES(m, (k, v) -> v + LENGTH(k)) AS t, TRANSFORM_KEYS(m, (k, v) -> CONCAT(k, '!')) AS n, MAP_ZIP_WITH(m, m, (k, v, w) -> v + w) AS z FROM o
--! duckdb none: DuckDB has no such functions
--! case sum_of_casts_that_are_null
SELECT g, SUM(CAST(d AS DECIMAL(10,2))) AS s, COUNT(CAST(d AS DECIMAL(10,2))) AS n, AVG(CEIL(d, 1)) AS c FROM o GROUP BY g
--! duckdb
SELECT g, SUM(CAST(CASE WHEN isfinite(d) THEN d END AS DECIMAL(10,2))) AS s, COUNT(CASE WHEN isfinite(d) THEN d END) AS n, AVG(CEIL(CASE WHEN isfinite(d) THEN d END * 10) / 10) AS c FROM o GROUP BY g
--! step
UPDATE o SET d = CAST('NaN' AS DOUBLE) WHERE id = 1;
--! step
UPDATE o SET d = CAST('Infinity' AS DOUBLE) WHERE g = 'a';
--! step
UPDATE o SET d = 0.25 WHERE id = 2;
