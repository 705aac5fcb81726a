--! tables
CREATE TABLE docs (id INT PRIMARY KEY, tags ARRAY<STRING>, who STRUCT<name: STRING, age: INT>, attrs MAP<STRING, INT>, grid ARRAY<ARRAY<INT>>, people ARRAY<STRUCT<name: STRING, age: INT>>);

--! data
INSERT INTO docs VALUES
  (1, array('x', 'y', 'x'), named_struct('name', 'Ann', 'age', 30), map('p', 1, 'q', 2), array(array(1, 2), array(3)), array(named_struct('name', 'Kim', 'age', 3))),
  (2, array('z'), named_struct('name', 'Bob', 'age', NULL), map('p', 5), array(array(4)), array(named_struct('name', 'Lee', 'age', 8), named_struct('name', 'Kim', 'age', 3))),
  (3, NULL, NULL, NULL, NULL, NULL);

--! step
INSERT INTO docs VALUES (4, array('y', NULL), named_struct('name', 'Cid', 'age', 30), map('r', 9, 'p', 1), array(array(1), array(1, 2)), array(named_struct('name', 'Max', 'age', 1)));

--! step
UPDATE docs SET tags = array('w', 'x') WHERE id = 1;

--! step
DELETE FROM docs WHERE id = 2;

--! step
UPDATE docs SET attrs = map('s', 7), who = named_struct('name', 'Eve', 'age', 41) WHERE id IN (1, 3);

--! step
DELETE FROM docs;

--! step
INSERT INTO docs VALUES (9, array('q'), named_struct('name', 'Ann', 'age', 30), map('p', 1), array(array(7)), array(named_struct('name', 'Kim', 'age', 3)));
