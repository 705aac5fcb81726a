--! dataset measures
--! case row_number
SELECT id, g, row_number() OVER (PARTITION BY g ORDER BY i, id) AS n FROM m
--! case row_number_global
SELECT id, row_number() OVER (ORDER BY x DESC, id) AS n FROM m
--! case rank
SELECT id, rank() OVER (PARTITION BY g ORDER BY i) AS k FROM m
--! case dense_rank
SELECT id, dense_rank() OVER (PARTITION BY g ORDER BY i DESC) AS k FROM m
--! case percent_rank
SELECT id, percent_rank() OVER (PARTITION BY g ORDER BY i) AS k FROM m
--! case cume_dist
SELECT id, cume_dist() OVER (ORDER BY i) AS k FROM m
--! case ntile
SELECT id, ntile(3) OVER (ORDER BY id) AS k FROM m
--! case lag_lead
SELECT id, lag(i) OVER (PARTITION BY g ORDER BY id) AS before, lead(i) OVER (PARTITION BY g ORDER BY id) AS after FROM m
--! case lag_offset_default
SELECT id, lag(i, 2, -1) OVER (ORDER BY id) AS before, lead(s, 2, 'none') OVER (ORDER BY id) AS after FROM m
--! case first_last_value
SELECT id, first_value(i) OVER (PARTITION BY g ORDER BY id) AS f, last_value(i) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM m
--! case nth_value
SELECT id, nth_value(i, 2) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS second FROM m
--! case aggregate_over_partition
SELECT id, g, SUM(i) OVER (PARTITION BY g) AS total, COUNT(*) OVER (PARTITION BY g) AS n, AVG(x) OVER (PARTITION BY g) AS mean FROM m
--! case aggregate_over_everything
SELECT id, SUM(d) OVER () AS total FROM m
--! case running_sum
SELECT id, SUM(i) OVER (PARTITION BY g ORDER BY id) AS running FROM m
--! case running_sum_with_peers
SELECT id, SUM(big) OVER (ORDER BY i) AS running FROM m
--! case rows_frame
SELECT id, SUM(i) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS near FROM m
--! case rows_frame_preceding
SELECT id, COUNT(i) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS n, MIN(i) OVER (ORDER BY id ROWS 2 PRECEDING) AS low FROM m
--! case rows_frame_following
SELECT id, MAX(i) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS rest FROM m
--! case range_frame
SELECT id, COUNT(*) OVER (ORDER BY i RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS near FROM m
--! case range_current
SELECT id, SUM(id) OVER (PARTITION BY g ORDER BY i RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS rest FROM m
--! case order_of_group_result
SELECT g, SUM(i) AS total, rank() OVER (ORDER BY SUM(i) DESC) AS k FROM m GROUP BY g
--! case window_of_aggregate
SELECT g, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS everything FROM m GROUP BY g
--! case two_partitions
SELECT id, row_number() OVER (PARTITION BY g ORDER BY id) AS a, row_number() OVER (PARTITION BY flag ORDER BY id DESC) AS b FROM m
--! case named_window
SELECT id, SUM(i) OVER w AS total, COUNT(*) OVER w AS n FROM m WINDOW w AS (PARTITION BY g ORDER BY id)
--! case qualify
SELECT id, g, i FROM m QUALIFY row_number() OVER (PARTITION BY g ORDER BY i DESC, id) = 1
--! case qualify_alias
SELECT id, g, rank() OVER (PARTITION BY g ORDER BY x) AS k FROM m QUALIFY k <= 2
--! case filter_on_window
SELECT id, n FROM (SELECT id, row_number() OVER (PARTITION BY g ORDER BY id DESC) AS n FROM m) w WHERE n = 1
--! case difference_from_previous
SELECT id, i - lag(i) OVER (ORDER BY id) AS step FROM m
--! case window_filter
SELECT id, COUNT(*) FILTER (WHERE flag) OVER (PARTITION BY g) AS n FROM m
--! case share_of_group
SELECT id, d / SUM(d) OVER (PARTITION BY g) AS share FROM m WHERE d > 0
--! case ignore_nulls
SELECT id, last_value(i) IGNORE NULLS OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS filled FROM m
--! duckdb
SELECT id, last_value(i IGNORE NULLS) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS filled FROM m
--! case descending_nulls_first
SELECT id, row_number() OVER (ORDER BY i DESC NULLS FIRST, id) AS n FROM m
--! case window_over_join
SELECT a.id, b.id AS other, row_number() OVER (PARTITION BY a.id ORDER BY b.id) AS n FROM m a JOIN m b ON a.g = b.g
--! case min_max_running
SELECT id, MIN(x) OVER (PARTITION BY g ORDER BY id) AS low, MAX(x) OVER (PARTITION BY g ORDER BY id) AS high FROM m
--! case first_ranks
SELECT id, g, n FROM (SELECT id, g, rank() OVER (PARTITION BY g ORDER BY i) AS n FROM m) AS q WHERE n <= 2
--! case first_dense_ranks
SELECT g, i FROM (SELECT g, i, dense_rank() OVER (ORDER BY i DESC NULLS LAST) AS n FROM m) AS q WHERE n < 3
--! case second_rank
SELECT id FROM (SELECT id, rank() OVER (PARTITION BY flag ORDER BY g) AS n FROM m) AS q WHERE n = 2
--! case by_rank_with_limit
SELECT id, rank() OVER (ORDER BY i NULLS LAST) AS n FROM m ORDER BY n, id LIMIT 3
