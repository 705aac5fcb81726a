--! dataset graph
--! case reach_linear
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT src, dst FROM p
--! case reach_right_linear
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT e.src, p.dst FROM edge e JOIN p ON e.dst = p.src) SELECT src, dst FROM p
--! case reach_non_linear
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT x.src, y.dst FROM p x JOIN p y ON x.dst = y.src) SELECT src, dst FROM p
--! duckdb
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT src, dst FROM p
--! case reach_from_one
WITH RECURSIVE p(id) AS (SELECT 1 UNION SELECT e.dst FROM p JOIN edge e ON p.id = e.src) SELECT id FROM p
--! case reach_counted
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT src, COUNT(*) AS n FROM p GROUP BY src
--! case reach_labelled
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT a.label AS from_label, b.label AS to_label FROM p JOIN node a ON a.id = p.src JOIN node b ON b.id = p.dst
--! case unreachable
WITH RECURSIVE p(id) AS (SELECT 1 UNION SELECT e.dst FROM p JOIN edge e ON p.id = e.src) SELECT n.id FROM node n WHERE n.id NOT IN (SELECT id FROM p)
--! case filtered_inside
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge WHERE src <> 6 UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src WHERE e.dst <> 5) SELECT src, dst FROM p
--! case bounded_depth
WITH RECURSIVE p(src, dst, depth) AS (SELECT src, dst, 1 FROM edge UNION SELECT p.src, e.dst, p.depth + 1 FROM p JOIN edge e ON p.dst = e.src WHERE p.depth < 4) SELECT src, dst, depth FROM p
--! case shortest_bounded
WITH RECURSIVE p(id, depth) AS (SELECT 1, 0 UNION SELECT e.dst, p.depth + 1 FROM p JOIN edge e ON p.id = e.src WHERE p.depth < 6) SELECT id, MIN(depth) AS depth FROM p GROUP BY id
--! case same_component
WITH RECURSIVE u(x, y) AS (SELECT src, dst FROM edge UNION SELECT dst, src FROM edge), p(x, y) AS (SELECT x, y FROM u UNION SELECT p.x, u.y FROM p JOIN u ON p.y = u.x) SELECT x, MIN(y) AS root FROM p GROUP BY x
--! case counting_numbers
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT i, (SELECT COUNT(*) FROM edge WHERE edge.src = n.i) AS out_degree FROM n
--! case walks_bounded_bag
WITH RECURSIVE p(src, dst, depth) AS (SELECT src, dst, 1 FROM edge UNION ALL SELECT p.src, e.dst, p.depth + 1 FROM p JOIN edge e ON p.dst = e.src WHERE p.depth < 4) SELECT src, dst, depth FROM p
--! case in_cycle
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT n.label FROM node n WHERE EXISTS (SELECT 1 FROM p WHERE p.src = n.id AND p.dst = n.id)
--! case two_base_cases
WITH RECURSIVE p(id) AS (SELECT id FROM node WHERE label = 'a' UNION SELECT id FROM node WHERE label = 'g' UNION SELECT e.dst FROM p JOIN edge e ON p.id = e.src) SELECT id FROM p
--! duckdb
WITH RECURSIVE p(id) AS (SELECT id FROM node WHERE label IN ('a', 'g') UNION SELECT e.dst FROM p JOIN edge e ON p.id = e.src) SELECT id FROM p
--! case same_generation
WITH RECURSIVE g(x, y) AS (SELECT a.dst, b.dst FROM edge a JOIN edge b ON a.src = b.src UNION SELECT a.dst, b.dst FROM g JOIN edge a ON a.src = g.x JOIN edge b ON b.src = g.y) SELECT x, y FROM g
--! case view_over_recursive
--! view reach
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT src, dst FROM p
--! query
SELECT n.id, COUNT(reach.dst) AS reached FROM node n LEFT JOIN reach ON reach.src = n.id GROUP BY n.id
--! dataset tree
--! case parts_explosion
WITH RECURSIVE x(name, whole, quantity) AS (SELECT name, whole, quantity FROM part UNION ALL SELECT p.name, x.whole, p.quantity * x.quantity FROM x JOIN part p ON p.whole = x.name) SELECT whole, name, SUM(quantity) AS quantity FROM x GROUP BY whole, name
--! case ancestors
WITH RECURSIVE x(name, whole) AS (SELECT name, whole FROM part UNION SELECT x.name, p.whole FROM x JOIN part p ON p.name = x.whole) SELECT name, whole FROM x
--! case paths
WITH RECURSIVE x(name, path) AS (SELECT name, concat(whole, '/', name) FROM part WHERE whole = 'bike' UNION ALL SELECT p.name, concat(x.path, '/', p.name) FROM x JOIN part p ON p.whole = x.name) SELECT name, path FROM x
--! dataset graph
--! case two_recursive_branches
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION (SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src UNION ALL SELECT e.src, p.dst FROM edge e JOIN p ON e.dst = p.src)) SELECT src, dst FROM p
--! duckdb
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT src, dst FROM p
--! case distinct_in_step
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT q.src, e.dst FROM (SELECT DISTINCT src, dst FROM p) q JOIN edge e ON q.dst = e.src) SELECT src, dst FROM p
--! duckdb
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT src, dst FROM p
--! case semi_join_in_step
WITH RECURSIVE p(id) AS (SELECT 1 UNION SELECT e.dst FROM edge e WHERE e.src IN (SELECT id FROM p)) SELECT id FROM p
--! duckdb
WITH RECURSIVE p(id) AS (SELECT 1 UNION SELECT e.dst FROM p JOIN edge e ON p.id = e.src) SELECT id FROM p
--! case distinct_edges_in_step
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN (SELECT DISTINCT src, dst FROM edge) e ON p.dst = e.src) SELECT src, dst FROM p
--! case not_exists_in_step
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src WHERE NOT EXISTS (SELECT 1 FROM node n WHERE n.id = e.dst AND n.label = 'z')) SELECT src, dst FROM p
--! case moved_cycle
WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT src, dst FROM p
--! step
UPDATE edge SET src = 4, dst = 1 WHERE src = 3 AND dst = 1;
--! step
UPDATE edge SET dst = 3 WHERE src = 1;
UPDATE edge SET dst = 2 WHERE src = 2 AND dst = 3;
--! step
UPDATE edge SET dst = dst % 8 + 1;
--! step
UPDATE edge SET src = dst, dst = src;
--! step
DELETE FROM edge WHERE src > 4;
INSERT INTO edge VALUES (4, 4), (1, 4), (4, 2);
--! step
DELETE FROM edge WHERE src = 1;
INSERT INTO edge VALUES (2, 1);
