--! dataset measures
--! case limit
SELECT id, i FROM m ORDER BY i DESC, id LIMIT 3
--! case limit_offset
SELECT id, i FROM m ORDER BY i, id LIMIT 2 OFFSET 1
--! case offset_only
SELECT id FROM m ORDER BY id OFFSET 2
--! case nulls_last
SELECT id, i FROM m ORDER BY i ASC NULLS LAST, id LIMIT 4
--! case nulls_first
SELECT id, i FROM m ORDER BY i DESC NULLS FIRST, id LIMIT 4
--! case limit_zero
SELECT id FROM m ORDER BY id LIMIT 0
--! case limit_large
SELECT id FROM m ORDER BY id LIMIT 1000
--! case ties_by_whole_row
SELECT g, i FROM m ORDER BY g LIMIT 3
--! duckdb
SELECT g, i FROM m ORDER BY g NULLS FIRST, i NULLS FIRST LIMIT 3
--! case order_by_position
SELECT id, x FROM m ORDER BY 2 DESC, 1 LIMIT 3
--! case order_by_expression
SELECT id FROM m ORDER BY i * -1, id LIMIT 3
--! case order_by_hidden_column
SELECT s FROM m ORDER BY id DESC LIMIT 3
--! case order_without_limit
SELECT id, i FROM m ORDER BY i
--! case top_of_groups
SELECT g, COUNT(*) AS n, SUM(i) AS total FROM m GROUP BY g ORDER BY n DESC, g LIMIT 2
--! case top_of_join
SELECT a.id, b.id AS other FROM m a JOIN m b ON a.g = b.g ORDER BY a.id DESC, b.id LIMIT 4
--! case aggregate_of_top
SELECT SUM(i) AS total, COUNT(*) AS n FROM (SELECT i FROM m ORDER BY id DESC LIMIT 3) x
--! case top_of_union
SELECT id FROM m WHERE flag UNION ALL SELECT id * 100 FROM m ORDER BY id DESC LIMIT 3
--! case top_in_subquery
SELECT id, g FROM m WHERE id IN (SELECT id FROM m ORDER BY x DESC, id LIMIT 3)
--! case distinct_top
SELECT DISTINCT g FROM m ORDER BY g DESC LIMIT 2
--! case strings_by_code_point
SELECT s, id FROM m ORDER BY s DESC, id LIMIT 4
--! case limit_without_order
SELECT id FROM m LIMIT 3
--! duckdb
SELECT id FROM m ORDER BY id LIMIT 3
