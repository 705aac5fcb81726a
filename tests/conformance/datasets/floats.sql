--! tables
CREATE TABLE f (id INT PRIMARY KEY, g STRING, x DOUBLE);

--! data
INSERT INTO f VALUES (1, 'a', CAST('-0.0' AS DOUBLE)), (2, 'a', 1.0), (3, 'b', CAST('NaN' AS DOUBLE)), (4, 'c', CAST('NaN' AS DOUBLE)), (5, 'd', NULL);

--! step
INSERT INTO f VALUES (6, 'a', 0.0), (7, 'b', CAST('Infinity' AS DOUBLE)), (8, 'e', 0.0);

--! step
UPDATE f SET x = CAST('-0.0' AS DOUBLE) WHERE id IN (6, 8);

--! step
UPDATE f SET x = CAST('NaN' AS DOUBLE) WHERE id = 2;

--! step
DELETE FROM f WHERE id = 1;
INSERT INTO f VALUES (1, 'a', 0.0);

--! step
UPDATE f SET x = 2.0 WHERE id IN (2, 3);

--! step
DELETE FROM f WHERE id IN (4, 6, 7);

--! step
DELETE FROM f;

--! step
INSERT INTO f VALUES (1, 'z', CAST('-0.0' AS DOUBLE)), (2, 'z', CAST('-Infinity' AS DOUBLE)), (3, 'z', CAST('Infinity' AS DOUBLE));
