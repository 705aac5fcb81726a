--! dataset kinds
--! case everything
SELECT * FROM kinds
--! rough
--! case distinct_everything
SELECT DISTINCT boo, tiny, small, num, big, f, x, d, s, v, bin, day, ts, ntz, arr, st FROM kinds
--! rough
--! case group_by_binary
SELECT bin, COUNT(*) AS n FROM kinds GROUP BY bin
--! case group_by_timestamp
SELECT ts, ntz, COUNT(*) AS n FROM kinds GROUP BY ts, ntz
--! case group_by_decimal
SELECT d, COUNT(*) AS n, MIN(id) AS low FROM kinds GROUP BY d
--! case group_by_boolean
SELECT boo, COUNT(*) AS n FROM kinds GROUP BY boo
--! case group_by_float
SELECT f, x, COUNT(*) AS n FROM kinds GROUP BY f, x
--! rough
--! case min_max_each
SELECT MIN(boo) AS b0, MAX(tiny) AS t1, MIN(small) AS s0, MAX(num) AS n1, MIN(big) AS b1, MAX(d) AS d1, MIN(s) AS s1, MAX(day) AS day1, MIN(ts) AS ts0, MAX(ntz) AS ntz1, MAX(bin) AS bin1 FROM kinds
--! case join_on_each
SELECT a.id, b.id AS other FROM kinds a JOIN kinds b ON a.s = b.s AND a.day = b.day AND a.ts = b.ts AND a.bin = b.bin AND a.d = b.d
--! case sum_small_integers
SELECT boo, SUM(tiny) AS st, SUM(small) AS ss, SUM(CAST(num AS BIGINT)) AS sn FROM kinds GROUP BY boo
--! case decimal_arithmetic
SELECT id, d + 1.5 AS plus, d * 2 AS twice, d - d AS zero, -d AS minus FROM kinds
--! case decimal_division
SELECT id, d / 7 AS part FROM kinds WHERE d IS NOT NULL
--! case integer_arithmetic
SELECT id, CAST(tiny AS INT) + small AS a, id * 2 AS b, id % 3 AS c, id DIV 2 AS e, id / 2 AS f FROM kinds
--! case casts
SELECT id, CAST(num AS STRING) AS a, CAST(boo AS INT) AS b, CAST(d AS DOUBLE) AS c, CAST(id AS DECIMAL(10,4)) AS e, CAST(day AS STRING) AS f, CAST(id AS BIGINT) AS g FROM kinds
--! case try_cast
SELECT id, TRY_CAST(s AS INT) AS n, TRY_CAST(concat('1', id) AS INT) AS m FROM kinds
--! case dates
SELECT id, year(day) AS y, month(day) AS m, day(day) AS d, date_add(day, -1) AS before FROM kinds
--! duckdb
SELECT id, year(day), month(day), day(day), day - 1 FROM kinds
--! case timestamps
SELECT id, hour(ts) AS h, minute(ntz) AS m, CAST(ts AS DATE) AS day FROM kinds
--! case strings
SELECT id, upper(s) AS u, length(s) AS n, substring(s, 1, 1) AS first, concat(s, '-', v) AS c FROM kinds
--! case nested_values
SELECT id, arr, st, st.a AS a, st.b AS b, mp['k'] AS k FROM kinds
--! case null_functions
SELECT id, COALESCE(num, 0) AS a, NULLIF(s, 'a') AS b, GREATEST(tiny, small) AS c, LEAST(id, 2) AS d FROM kinds
--! case comparisons
SELECT id, num < big AS a, f < x AS b, s < v AS c, d > 1 AS e, day < DATE '2000-01-01' AS g, ts = ntz AS h FROM kinds
--! case float_special_values
SELECT k, COUNT(*) AS n, SUM(v) AS total FROM (SELECT id % 2 AS k, CASE WHEN id = 1 THEN DOUBLE('Infinity') WHEN id = 4 THEN DOUBLE('NaN') ELSE x END AS v FROM kinds) t GROUP BY k
--! duckdb
SELECT k, COUNT(*) AS n, SUM(v) AS total FROM (SELECT id % 2 AS k, CASE WHEN id = 1 THEN 'Infinity'::DOUBLE WHEN id = 4 THEN 'NaN'::DOUBLE ELSE x END AS v FROM kinds) t GROUP BY k
--! case intervals
SELECT id, day + INTERVAL 1 MONTH AS next_month, ntz + INTERVAL 90 MINUTES AS later FROM kinds WHERE year(day) < 9000
--! duckdb
SELECT id, (day + INTERVAL 1 MONTH)::DATE, ntz + INTERVAL 90 MINUTE FROM kinds WHERE year(day) < 9000
