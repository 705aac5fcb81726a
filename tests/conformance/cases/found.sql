--! dataset letters
--! case equal_to_itself
-- random query, seed 1475
SELECT a, b FROM r WHERE NOT (b <> b)
--! case equal_to_itself_in_anti_join
-- random query, seed 1635
SELECT x.a FROM r x LEFT ANTI JOIN r y ON x.a = y.a AND y.b = y.b
--! case distinct_count_of_what_is_matched
-- random query, seed 1582
SELECT x.k FROM (SELECT b - b AS k FROM r) x WHERE 0 >= (SELECT COUNT(DISTINCT y.b) FROM r y WHERE y.b = x.k)
--! case condition_on_outer_side
SELECT r.a, x.n FROM r LEFT JOIN (SELECT b, COUNT(DISTINCT c) AS n FROM s GROUP BY b) x ON r.b + 0 = x.b WHERE COALESCE(x.n, 0) <= 1
--! case self_supporting_path
WITH RECURSIVE p(x, y) AS (SELECT a, b FROM r UNION SELECT p.x, q.b FROM p JOIN r q ON p.y = q.a) SELECT x, y FROM p
--! step
INSERT INTO r VALUES (2, 5), (6, 6);
--! step
INSERT INTO r VALUES (5, 6);
--! step
DELETE FROM r WHERE a = 2 AND b = 5;
--! step
DELETE FROM r WHERE a = 5;
INSERT INTO r VALUES (2, 3), (3, 2), (3, 6);
--! step
UPDATE r SET b = 5 WHERE a = 2 AND b = 3;
--! case group_by_lambda
-- GROUP BY of a key with a lambda, which the select list repeats
SELECT FILTER(ARRAY(a, b), v -> v > 1) AS k, COUNT(*) AS n FROM r GROUP BY FILTER(ARRAY(a, b), v -> v > 1)
--! duckdb
SELECT list_filter([a, b], lambda v: v > 1) AS k, COUNT(*) AS n FROM r GROUP BY ALL
--! case mode_with_flag
SELECT b, MODE(a, TRUE) AS m FROM r GROUP BY b
--! duckdb none: DuckDB takes any of several modes
--! case part_of_interval
SELECT a, DATE_PART('days', INTERVAL '3 1:2:3' DAY TO SECOND) AS d FROM r
--! duckdb
SELECT a, 3 FROM r
--! case outer_join_over_maps
SELECT x.id, y.id AS other FROM p x LEFT JOIN p y ON MAP_CONTAINS_KEY(x.m, x.k) = MAP_CONTAINS_KEY(y.m, y.k) AND x.id <> y.id
--! tables
CREATE TABLE p (id INT PRIMARY KEY, m MAP<INT, STRING>, k INT);
INSERT INTO p VALUES (1, MAP(1, 'a'), 1), (2, MAP(2, 'b'), 2), (3, NULL, 1);
--! duckdb
SELECT x.id, y.id AS other FROM p x LEFT JOIN p y ON list_contains(map_keys(x.m), x.k) = list_contains(map_keys(y.m), y.k) AND x.id <> y.id
--! step
INSERT INTO p VALUES (4, MAP(1, 'a'), 2), (5, MAP(1, 'a'), 1);
--! step
UPDATE p SET m = NULL WHERE id IN (2, 5);
--! step
DELETE FROM p WHERE id = 1;
