--! tables
CREATE TABLE o (id INT PRIMARY KEY, g STRING NOT NULL, x BIGINT, y BIGINT, d DOUBLE NOT NULL, p STRUCT<x: BIGINT, y: BIGINT>, a ARRAY<BIGINT>, m MAP<STRING, BIGINT>, items ARRAY<STRUCT<x: BIGINT, y: BIGINT>>);

--! data
INSERT INTO o VALUES
  (1, 'a', 6, 3, 1.5, STRUCT(2 AS x, 3 AS y), ARRAY(1, 2, 3), MAP('x', 2, 'y', 5), ARRAY(STRUCT(1 AS x, 2 AS y), STRUCT(3 AS x, NULL AS y))),
  (2, 'a', 6, 0, 2.5, STRUCT(NULL AS x, 3 AS y), ARRAY(4, NULL), MAP('x', 2, 'y', NULL), ARRAY(STRUCT(7 AS x, 2 AS y))),
  (3, 'b', NULL, 4, -0.5, NULL, NULL, NULL, NULL);

--! step
INSERT INTO o VALUES (4, 'b', 9, 3, 4.0, STRUCT(5 AS x, 1 AS y), ARRAY(7, 1), MAP('x', 1, 'y', 3), ARRAY(STRUCT(2 AS x, 2 AS y)));

--! step
UPDATE o SET y = 2 WHERE id = 2;

--! step
UPDATE o SET x = NULL, p = NULL, a = NULL, m = NULL, items = NULL WHERE id = 1;

--! step
UPDATE o SET x = 8, p = STRUCT(1 AS x, 1 AS y), g = 'a' WHERE id = 3;

--! step
DELETE FROM o WHERE g = 'a';

--! step
DELETE FROM o;
