--! tables
CREATE TABLE m (id INT PRIMARY KEY, g STRING, i INT, big BIGINT, d DECIMAL(10,2), x DOUBLE, flag BOOLEAN, s STRING, day DATE);

--! data
INSERT INTO m VALUES
  (1, 'a', 1, 100, 1.10, 0.5, TRUE, 'one', DATE '2024-01-01'),
  (2, 'a', 2, 200, 2.20, 1.5, FALSE, 'two', DATE '2024-01-02'),
  (3, 'a', 2, NULL, NULL, 1.5, TRUE, 'two', DATE '2024-01-02'),
  (4, 'b', NULL, 50, 0.00, NULL, NULL, NULL, NULL),
  (5, 'b', 7, -50, 0.00, 2.25, TRUE, 'six', DATE '2023-12-31'),
  (6, NULL, 3, 10, 5.55, -8.0, FALSE, 'ten', DATE '2024-05-05'),
  (7, 'c', NULL, NULL, NULL, NULL, NULL, NULL, NULL);

--! step
INSERT INTO m VALUES (8, 'a', -4, 1, 9.99, 100.0, FALSE, 'alp', DATE '2020-02-29'), (9, 'd', 5, 5, 5.00, 5.0, TRUE, 'dee', DATE '2024-01-05'), (10, NULL, 4, 4, 4.00, 4.0, TRUE, 'four', DATE '2024-04-04');

--! step
DELETE FROM m WHERE id IN (8, 1);

--! step
UPDATE m SET i = i + 10, d = d * 2, x = x / 2, g = 'b' WHERE id IN (2, 5, 9);

--! step
UPDATE m SET i = NULL, x = NULL, d = NULL, big = NULL, s = NULL, flag = NULL, day = NULL WHERE g = 'b';

--! step
INSERT INTO m VALUES (11, 'b', 6, 6, 6.66, 6.5, TRUE, 'zed', DATE '2025-01-01'), (12, 'b', 6, 6, 6.66, 6.5, TRUE, 'zed', DATE '2025-01-01'), (13, 'c', 1, 1, 0.01, 0.125, FALSE, '', DATE '1999-09-09');

--! step
DELETE FROM m WHERE g = 'a' OR g IS NULL;

--! step
DELETE FROM m;

--! step
INSERT INTO m VALUES (1, 'z', 1, 1, 1.00, 1.0, FALSE, 'z', DATE '2024-01-01'), (2, 'z', 3, 3, 3.00, 3.0, TRUE, 'y', DATE '2024-01-02');
