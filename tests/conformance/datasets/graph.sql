--! tables
CREATE TABLE edge (src INT, dst INT);
CREATE TABLE node (id INT PRIMARY KEY, label STRING);

--! data
INSERT INTO edge VALUES (1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (6, 6), (7, 8);
INSERT INTO node VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e'), (6, 'f'), (7, 'g'), (8, 'h'), (9, 'i');

--! step
INSERT INTO edge VALUES (5, 6), (2, 7);

--! step
DELETE FROM edge WHERE src = 3 AND dst = 1;

--! step
INSERT INTO edge VALUES (5, 2), (8, 9), (9, 8);

--! step
DELETE FROM edge WHERE src = 2 AND dst = 3;

--! step
UPDATE edge SET dst = 1 WHERE src = 5 AND dst = 2;
INSERT INTO edge VALUES (2, 3), (2, 3);

--! step
DELETE FROM edge WHERE src = dst;
UPDATE node SET label = 'z' WHERE id = 8;

--! step
DELETE FROM edge WHERE src IN (8, 1);
DELETE FROM node WHERE id = 9;

--! step
DELETE FROM edge;

--! step
INSERT INTO edge VALUES (1, 2), (2, 1);
