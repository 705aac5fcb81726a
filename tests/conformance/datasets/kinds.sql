--! tables
CREATE TABLE kinds (id INT PRIMARY KEY, boo BOOLEAN, tiny TINYINT, small SMALLINT, num INT, big BIGINT, f FLOAT, x DOUBLE, d DECIMAL(12,3), s STRING, v VARCHAR(20), bin BINARY, day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, arr ARRAY<INT>, st STRUCT<a: INT, b: STRING>, mp MAP<STRING, INT>);

--! data
INSERT INTO kinds VALUES
  (1, TRUE, 1, 2, 3, 4, 1.5, 2.5, 1.125, 'a', 'va', X'00FF', DATE '2024-02-29', TIMESTAMP '2024-02-29 12:30:00', TIMESTAMP_NTZ '2024-02-29 12:30:00', array(1, 2), named_struct('a', 1, 'b', 'x'), map('k', 1)),
  (2, FALSE, -128, -32768, -2147483648, -9223372036854775807, -0.25, -1.0, -999999999.999, 'B', 'vb', X'', DATE '1970-01-01', TIMESTAMP '1970-01-01 00:00:00', TIMESTAMP_NTZ '1970-01-01 00:00:00', array(), named_struct('a', NULL, 'b', NULL), map()),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

--! step
INSERT INTO kinds VALUES (4, TRUE, 127, 32767, 2147483647, 9223372036854775807, 3.5, 1e300, 999999999.999, 'ä€😀', 'é', X'DEADBEEF', DATE '9999-12-31', TIMESTAMP '2038-01-19 03:14:07.123456', TIMESTAMP_NTZ '2038-01-19 03:14:07.123456', array(NULL, 3), named_struct('a', 7, 'b', 'ä'), map('k', NULL, 'l', 2));

--! step
INSERT INTO kinds SELECT id + 10, boo, tiny, small, num, big, f, x, d, s, v, bin, day, ts, ntz, arr, st, mp FROM kinds WHERE id <> 3;

--! step
DELETE FROM kinds WHERE id IN (1, 4);

--! step
UPDATE kinds SET boo = NOT boo, s = concat(s, '!'), d = d / 3, x = x * 2 WHERE id > 10 AND id < 14;

--! step
DELETE FROM kinds;

--! step
INSERT INTO kinds (id, s) VALUES (1, 'only');
