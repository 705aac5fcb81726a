--! dataset times
--! case everything
SELECT * FROM shift
--! case compare
SELECT id, begins < ends AS a, begins = rounded AS b, begins IS DISTINCT FROM ends AS c, begins BETWEEN TIME'00:00:00' AND TIME'08:00:00' AS d, begins IN (TIME'08:00:00', TIME'23:59:59.999999') AS e FROM shift
--! case filter_by_text
SELECT id FROM shift WHERE begins >= '08:00' AND ends < '16:30:00.2'
--! duckdb
SELECT id FROM shift WHERE begins >= TIME '08:00:00' AND ends < TIME '16:30:00.2'
--! case group_by
SELECT begins, COUNT(*) AS n, MIN(id) AS low FROM shift GROUP BY begins
--! case group_by_two
SELECT rounded, ends, COUNT(*) AS n FROM shift GROUP BY rounded, ends
--! case grouping_sets
SELECT who, rounded, COUNT(*) AS n FROM shift GROUP BY ROLLUP (who, rounded)
--! case extremes
SELECT who, MIN(begins) AS first, MAX(begins) AS last, MIN(ends) AS least, MAX(ends) AS most, COUNT(begins) AS n FROM shift GROUP BY who
--! case extremes_of_all
SELECT MIN(begins) AS first, MAX(ends) AS last, COUNT(DISTINCT begins) AS kinds FROM shift
--! case best_by
SELECT who, MIN_BY(id, begins) AS early, MAX_BY(id, ends) AS late FROM shift WHERE begins IS NOT NULL AND ends IS NOT NULL AND id <> 5 GROUP BY who
--! case distinct
SELECT DISTINCT begins, rounded FROM shift
--! case join_on
SELECT s.id, b.name FROM shift s JOIN bell b ON b.at = s.begins
--! case join_of_two_precisions
SELECT s.id, b.name FROM shift s JOIN bell b ON b.at = s.ends OR b.at = s.rounded
--! case left_join
SELECT s.id, s.begins, b.name FROM shift s LEFT JOIN bell b ON b.at = s.begins
--! case join_between
SELECT s.id, b.name, b.at FROM shift s JOIN bell b ON b.at >= s.begins AND b.at < s.ends
--! case anti_join
SELECT id FROM shift s WHERE NOT EXISTS (SELECT 1 FROM bell b WHERE b.at = s.rounded)
--! case in_subquery
SELECT id FROM shift WHERE begins IN (SELECT at FROM bell)
--! case scalar_subquery
SELECT id, (SELECT MAX(at) FROM bell WHERE at <= s.begins) AS bell FROM shift s
--! case top
SELECT id, begins FROM shift ORDER BY begins DESC NULLS LAST, id LIMIT 3
--! case window_ordered
SELECT id, begins, ROW_NUMBER() OVER (ORDER BY begins NULLS FIRST, id) AS n, LAG(begins) OVER (ORDER BY begins NULLS FIRST, id) AS before, COUNT(*) OVER (ORDER BY begins NULLS FIRST) AS upto FROM shift
--! case window_partitioned
SELECT id, RANK() OVER (PARTITION BY begins ORDER BY id) AS r, MIN(ends) OVER (PARTITION BY who) AS least FROM shift
--! case union
SELECT begins AS at FROM shift UNION SELECT at FROM bell
--! case except
SELECT at FROM bell EXCEPT SELECT rounded FROM shift
--! case add_interval
SELECT id, begins + INTERVAL '10' MINUTE AS later, ends - INTERVAL '1' SECOND AS before FROM shift WHERE begins < TIME'23:00:00' AND ends > TIME'00:00:01'
--! duckdb
SELECT id, begins + INTERVAL 10 MINUTE, ends - INTERVAL 1 SECOND FROM shift WHERE begins < TIME '23:00:00' AND ends > TIME '00:00:01'
--! case difference
SELECT id, ends - begins AS length FROM shift
--! duckdb
SELECT id, date_diff('microsecond', begins, ends) FROM shift
--! case sum_of_differences
SELECT who, SUM(ends - begins) AS total FROM shift GROUP BY who
--! duckdb
SELECT who, SUM(date_diff('microsecond', begins, ends))::BIGINT FROM shift GROUP BY who
--! case parts
SELECT id, hour(begins) AS h, minute(begins) AS m, second(ends) AS s, extract(SECOND FROM ends) AS f FROM shift
--! duckdb
SELECT id, hour(begins), minute(begins), second(ends), (extract(microsecond FROM ends) / 1000000.0)::DECIMAL(5,3) FROM shift
--! case group_by_hour
SELECT hour(begins) AS h, COUNT(*) AS n, MAX(ends) AS last FROM shift GROUP BY hour(begins)
--! case truncate
SELECT time_trunc('HOUR', begins) AS h, COUNT(*) AS n FROM shift GROUP BY time_trunc('HOUR', begins)
--! duckdb
SELECT make_time(hour(begins), 0, 0) AS h, COUNT(*) AS n FROM shift GROUP BY 1
--! case casts
SELECT id, CAST(begins AS STRING) AS a, CAST(ends AS TIME(0)) AS b, CAST(concat('0', id, ':30') AS TIME) AS c, CAST(begins AS BIGINT) AS d FROM shift
--! duckdb
SELECT id, rtrim(begins::VARCHAR, '.'), make_time(hour(ends), minute(ends), second(ends)), ('0' || id || ':30:00')::TIME, hour(begins) * 3600 + minute(begins) * 60 + second(begins) FROM shift
--! case distance
SELECT id, time_diff('MINUTE', begins, ends) AS minutes FROM shift
--! duckdb
SELECT id, trunc(date_diff('microsecond', begins, ends) / 60000000.0)::BIGINT FROM shift
--! case day_and_time
SELECT id, make_timestamp_ntz(DATE'2024-02-29', begins) AS at FROM shift
--! duckdb
SELECT id, DATE '2024-02-29' + begins FROM shift
--! case constants
SELECT id, COALESCE(begins, TIME'12:00:00') AS a, CASE WHEN id > 2 THEN ends ELSE begins END AS b, make_time(1, 2, 3.5) AS c FROM shift
