--! tables
CREATE TABLE shift (id INT PRIMARY KEY, who STRING, begins TIME, ends TIME(3), rounded TIME(0));
CREATE TABLE bell (at TIME NOT NULL, name STRING);
INSERT INTO shift VALUES (1, 'ann', TIME'08:00:00', TIME'16:30:00', TIME'08:00:00'), (2, 'bob', TIME'00:00:00', TIME'08:00:00', TIME'00:00:00'), (3, 'ann', TIME'23:59:59.999999', NULL, TIME'23:59:59'), (4, NULL, NULL, TIME'12:00:00.5', NULL), (5, 'cyd', TIME'08:00:00', TIME'16:30:00.25', TIME'08:00:00');
INSERT INTO bell VALUES (TIME'08:00:00', 'first'), (TIME'12:00:00.5', 'noon'), (TIME'23:59:59', 'last'), (TIME'08:00:00', 'again');
--! step
INSERT INTO shift VALUES (6, 'bob', TIME'00:00:00.000001', TIME'00:00:00.001', TIME'00:00:00');
INSERT INTO bell VALUES (TIME'00:00:00', 'midnight');
--! step
UPDATE shift SET begins = TIME'09:15:30.123456' WHERE id = 1;
UPDATE shift SET ends = TIME'23:59:59.999', rounded = NULL WHERE id = 5;
--! step
DELETE FROM shift WHERE id IN (2, 3);
DELETE FROM bell WHERE at = TIME'08:00:00' AND name = 'again';
--! step
INSERT INTO shift VALUES (2, 'dan', NULL, NULL, TIME'23:59:59'), (7, 'dan', TIME'23:59:59.999999', TIME'23:59:59.999', TIME'23:59:59');
UPDATE bell SET at = TIME'09:15:30.123456' WHERE name = 'last';
--! step
DELETE FROM shift WHERE who = 'dan' OR id = 6;
DELETE FROM bell WHERE name = 'midnight';
