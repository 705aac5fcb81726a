--! tables
CREATE TABLE r (a INT, b INT);
CREATE TABLE s (b INT, c INT);
CREATE TABLE t (c INT, d STRING);

--! data
INSERT INTO r VALUES (1, 1), (1, 1), (1, 2), (2, 2), (3, NULL), (NULL, 3), (4, 4);
INSERT INTO s VALUES (1, 10), (1, 11), (2, 10), (NULL, 12), (3, NULL), (5, 10);
INSERT INTO t VALUES (10, 'x'), (10, 'y'), (11, 'x'), (NULL, 'z'), (12, NULL);

--! step
INSERT INTO r VALUES (5, 1), (5, NULL);
INSERT INTO s VALUES (2, 11), (4, 12);

--! step
DELETE FROM s WHERE b = 1;

--! step
UPDATE r SET b = 2 WHERE a = 1;
UPDATE s SET c = 11 WHERE b = 2;

--! step
INSERT INTO s VALUES (1, 10), (1, 10), (2, 10);
DELETE FROM r WHERE b IS NULL;
DELETE FROM t WHERE d = 'x';

--! step
INSERT INTO r SELECT b, c FROM s;
INSERT INTO t VALUES (10, 'x'), (10, 'x'), (11, NULL);

--! step
DELETE FROM s WHERE b IS NULL OR c IS NULL;

--! step
DELETE FROM r;

--! step
INSERT INTO r VALUES (1, 1), (2, 1), (NULL, NULL);
DELETE FROM s;

--! step
INSERT INTO s VALUES (1, 10), (1, 10), (NULL, NULL);
UPDATE t SET c = 10 WHERE c IS NULL;
