--! dataset measures
--! case like
SELECT id, s FROM m WHERE s LIKE 't%'
--! case not_like
SELECT id, s FROM m WHERE s NOT LIKE 't%'
--! case not_like_value
SELECT id, s LIKE '%o%' AS a, s NOT LIKE '%o%' AS b, NOT s LIKE '_w_' AS c FROM m
--! case ilike
SELECT id, s ILIKE 'T%' AS a, s NOT ILIKE 'T%' AS b FROM m
--! case rlike
SELECT id, s RLIKE '^[a-o]' AS a, s NOT RLIKE 'e$' AS b FROM m
--! case like_any
SELECT id FROM m WHERE s LIKE ANY ('t%', '%e')
--! duckdb
SELECT id FROM m WHERE s LIKE 't%' OR s LIKE '%e'
--! case like_all
SELECT id FROM m WHERE s LIKE ALL ('t%', '%o')
--! duckdb
SELECT id FROM m WHERE s LIKE 't%' AND s LIKE '%o'
--! case not_like_any
SELECT id FROM m WHERE s NOT LIKE ANY ('t%', '%o')
--! duckdb
SELECT id FROM m WHERE s NOT LIKE 't%' OR s NOT LIKE '%o'
--! case not_like_all
SELECT id FROM m WHERE s NOT LIKE ALL ('t%', '%o')
--! duckdb
SELECT id FROM m WHERE s NOT LIKE 't%' AND s NOT LIKE '%o'
--! case like_escape
SELECT id, concat(s, '_', id) LIKE '%o/_%' ESCAPE '/' AS a, concat(s, '%') NOT LIKE '%e/%' ESCAPE '/' AS b FROM m
--! case in_and_not_in
SELECT id, s IN ('one', 'two') AS a, s NOT IN ('one', 'two') AS b, i NOT BETWEEN 2 AND 4 AS c FROM m
--! case is_forms
SELECT id, s IS NULL AS a, s IS NOT NULL AS b, flag IS TRUE AS c, flag IS NOT FALSE AS d, i IS DISTINCT FROM 2 AS e, i IS NOT DISTINCT FROM 2 AS f FROM m
