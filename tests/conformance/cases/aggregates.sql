--! dataset measures
--! case count
SELECT g, COUNT(*) AS n, COUNT(i) AS ni, COUNT(x) AS nx FROM m GROUP BY g
--! case count_several
SELECT g, COUNT(i, d) AS n FROM m GROUP BY g
--! duckdb
SELECT g, COUNT(*) FILTER (WHERE i IS NOT NULL AND d IS NOT NULL) AS n FROM m GROUP BY g
--! case count_distinct
SELECT g, COUNT(DISTINCT i) AS n, COUNT(DISTINCT s) AS ns FROM m GROUP BY g
--! case count_distinct_several
SELECT COUNT(DISTINCT g, i) AS n FROM m
--! case count_if
SELECT g, count_if(i > 1) AS n FROM m GROUP BY g
--! duckdb
SELECT g, COUNT(*) FILTER (WHERE i > 1) AS n FROM m GROUP BY g
--! case sum_integers
SELECT g, SUM(i) AS si, SUM(big) AS sb FROM m GROUP BY g
--! case sum_decimal
SELECT g, SUM(d) AS total FROM m GROUP BY g
--! case sum_double
SELECT g, SUM(x) AS total FROM m GROUP BY g
--! case sum_distinct
SELECT g, SUM(DISTINCT i) AS total, SUM(DISTINCT d) AS money FROM m GROUP BY g
--! case avg_integers
SELECT g, AVG(i) AS mean FROM m GROUP BY g
--! case avg_decimal
SELECT g, AVG(d) AS mean FROM m GROUP BY g
--! case avg_double
SELECT g, AVG(x) AS mean FROM m GROUP BY g
--! case avg_distinct
SELECT g, AVG(DISTINCT i) AS mean FROM m GROUP BY g
--! case min_max
SELECT g, MIN(i) AS li, MAX(i) AS hi, MIN(d) AS ld, MAX(d) AS hd, MIN(x) AS lx, MAX(x) AS hx FROM m GROUP BY g
--! case min_max_strings_and_dates
SELECT g, MIN(s) AS ls, MAX(s) AS hs, MIN(day) AS ld, MAX(day) AS hd FROM m GROUP BY g
--! case min_max_everything
SELECT MIN(i) AS li, MAX(i) AS hi, MIN(s) AS ls, MAX(day) AS hd FROM m
--! case bool_and_or
SELECT g, bool_and(flag) AS every_flag, bool_or(flag) AS any_flag, bool_and(i > 1) AS big_ones FROM m GROUP BY g
--! case every_some
SELECT g, every(flag) AS e, some(flag) AS o FROM m GROUP BY g
--! duckdb
SELECT g, bool_and(flag) AS e, bool_or(flag) AS o FROM m GROUP BY g
--! case variance
SELECT g, var_samp(i) AS vs, var_pop(i) AS vp, variance(i) AS v FROM m GROUP BY g
--! duckdb
SELECT g, var_samp(i), var_pop(i), var_samp(i) FROM m GROUP BY g
--! case stddev
SELECT g, stddev(i) AS s, stddev_samp(x) AS ss, stddev_pop(d) AS sp FROM m GROUP BY g
--! case median
SELECT g, median(i) AS mi, median(x) AS mx FROM m GROUP BY g
--! duckdb
SELECT g, quantile_cont(i::DOUBLE, 0.5) AS mi, quantile_cont(x, 0.5) AS mx FROM m GROUP BY g
--! case percentile
SELECT g, percentile(i, 0.25) AS q1, percentile(i, 0.9) AS q9 FROM m GROUP BY g
--! duckdb
SELECT g, quantile_cont(i::DOUBLE, 0.25) AS q1, quantile_cont(i::DOUBLE, 0.9) AS q9 FROM m GROUP BY g
--! case percentile_cont
SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY x) AS p FROM m GROUP BY g
--! duckdb
SELECT g, quantile_cont(x, 0.5) AS p FROM m GROUP BY g
--! case percentile_disc
SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY i) AS p FROM m GROUP BY g
--! duckdb
SELECT g, quantile_disc(i, 0.5) AS p FROM m GROUP BY g
--! case percentile_approx
SELECT g, percentile_approx(i, 0.5) AS p, approx_percentile(day, 0.25, 100) AS q FROM m GROUP BY g
--! duckdb
SELECT g, quantile_disc(i, 0.5) AS p, quantile_disc(day, 0.25) AS q FROM m GROUP BY g
--! case try_sum_try_avg
SELECT g, try_sum(i) AS s, try_avg(d) AS a, try_sum(x) AS sx FROM m GROUP BY g
--! duckdb
SELECT g, SUM(i) AS s, AVG(d) AS a, SUM(x) AS sx FROM m GROUP BY g
--! case min_by_max_by
SELECT g, min_by(id, i * 100 + id) AS low, max_by(id, i * 100 + id) AS high FROM m GROUP BY g
--! case min_by_null_value
SELECT g, max_by(s, id) AS latest FROM m GROUP BY g
--! duckdb
SELECT g, arg_max_null(s, id) AS latest FROM m GROUP BY g
--! case collect_list_sorted
SELECT g, sort_array(collect_list(i)) AS l FROM m GROUP BY g
--! duckdb
SELECT g, coalesce(list_sort(list(i) FILTER (WHERE i IS NOT NULL)), []) AS l FROM m GROUP BY g
--! case array_agg_sorted
SELECT g, sort_array(array_agg(s)) AS l FROM m GROUP BY g
--! duckdb
SELECT g, coalesce(list_sort(list(s) FILTER (WHERE s IS NOT NULL)), []) AS l FROM m GROUP BY g
--! case collect_set
SELECT g, sort_array(collect_set(i)) AS l FROM m GROUP BY g
--! duckdb
SELECT g, coalesce(list_sort(list(DISTINCT i) FILTER (WHERE i IS NOT NULL)), []) AS l FROM m GROUP BY g
--! case collect_size
SELECT g, size(collect_list(s)) AS n, size(collect_set(s)) AS k FROM m GROUP BY g
--! duckdb
SELECT g, count(s) AS n, count(DISTINCT s) AS k FROM m GROUP BY g
--! case listagg
SELECT g, listagg(s, ', ') WITHIN GROUP (ORDER BY s) AS l FROM m GROUP BY g
--! case listagg_other_order
SELECT g, listagg(s, '-') WITHIN GROUP (ORDER BY id DESC) AS l FROM m GROUP BY g
--! case listagg_distinct
SELECT g, listagg(DISTINCT s, ',') WITHIN GROUP (ORDER BY s) AS l FROM m GROUP BY g
--! case string_agg
SELECT g, string_agg(s, '|') WITHIN GROUP (ORDER BY s DESC) AS l FROM m GROUP BY g
--! duckdb
SELECT g, string_agg(s, '|' ORDER BY s DESC) AS l FROM m GROUP BY g
--! case filter_every_kind
SELECT g, COUNT(*) FILTER (WHERE flag) AS n, SUM(i) FILTER (WHERE NOT flag) AS t, AVG(x) FILTER (WHERE i > 1) AS a, MIN(d) FILTER (WHERE d > 1) AS l, COUNT(DISTINCT i) FILTER (WHERE flag) AS k FROM m GROUP BY g
--! case bit_aggregates
SELECT g, bit_and(i) AS ba, bit_or(i) AS bo, bit_xor(i) AS bx FROM m GROUP BY g
--! case covariance_and_correlation
SELECT g, covar_pop(i, x) AS cp, covar_samp(i, x) AS cs FROM m GROUP BY g
--! case many_at_once
SELECT COUNT(*) AS n, COUNT(DISTINCT g) AS k, SUM(d) AS t, AVG(big) AS a, MIN(x) AS l, MAX(x) AS h, stddev(i) AS s FROM m
--! case sum_case
SELECT g, SUM(CASE WHEN flag THEN i ELSE 0 END) AS t, SUM(CASE WHEN flag THEN 1 END) AS n FROM m GROUP BY g
--! case ratio
SELECT g, SUM(d) / COUNT(*) AS r FROM m GROUP BY g
--! case approx_count_distinct_refused_or_exact
SELECT g, COUNT(DISTINCT day) AS n FROM m GROUP BY g
