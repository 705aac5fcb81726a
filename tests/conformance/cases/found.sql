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
