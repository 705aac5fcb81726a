"""Campaign durable, seed 794986713."""

from tests.fuzz.found import replay

# neither as before nor as after
# seed 794986713: Objects, views {'ages': 'hybrid', 'pay': 'strict', 'eldest': 'strict'}
# alone [('age', 'e0', 7)], MemoryError at (9835,) (scope.py:93)
# [('measure', 'd0', 2), ('work', 'e4', 'd1'), ('pick', 'd2', 'e3'), ('pick', 'd1', 'e1')], MemoryError at (991,) (maintenance.py:245)
# [('delete', 'e3'), ('work', 'e0', 'd2'), ('pick', 'd0', 'e2'), ('pick', 'd1', 'e2')], Interrupted at (5802, 2) (deleting.py:25, transactions.py:211)
# [('mark', 'e4', 110), ('pick', 'd2', 'e1'), ('boss', 'e0', 'e0')], Interrupted at (145,) (kinds.py:127)
# [('age', 'e1', 9)], MemoryError at (757, 1) (session.py:184, insist.py:18)
# emps: [('e0', 7, 'e0', 'd2', (0,)), ('e1', 3, None, 'd1', (1,)), ('e2', 6, None, 'd0', (2,)), ('e4', 4, None, 'd1', (4, 110))] instead of [('e0', 7, 'e0', 'd2', (0,)), ('e1', 9, None, 'd1', (1,)), ('e2', 6, None, 'd0', (2,)), ('e4', 4, None, 'd1', (4, 110))]
# seed 794986713: Objects, views {'ages': 'hybrid', 'pay': 'strict', 'eldest': 'strict'}
# alone [('age', 'e0', 7)], MemoryError at (9835,) (scope.py:93)
# [('measure', 'd0', 2), ('work', 'e4', 'd1'), ('pick', 'd2', 'e3'), ('pick', 'd1', 'e1')], MemoryError at (991,) (maintenance.py:245)
# [('delete', 'e3'), ('work', 'e0', 'd2'), ('pick', 'd0', 'e2'), ('pick', 'd1', 'e2')], Interrupted at (5802, 2) (deleting.py:25, transactions.py:211)
# [('mark', 'e4', 110), ('pick', 'd2', 'e1'), ('boss', 'e0', 'e0')], Interrupted at (145,) (kinds.py:127)
# [('age', 'e1', 9)], MemoryError at (757, 1) (session.py:184, insist.py:18)
# emps: [('e0', 7, 'e0', 'd2', (0,)), ('e1', 3, None, 'd1', (1,)), ('e2', 6, None, 'd0', (2,)), ('e4', 4, None, 'd1', (4, 110))] instead of [('e0', 7, 'e0', 'd2', (0,)), ('e1', 9, None, 'd1', (1,)), ('e2', 6, None, 'd0', (2,)), ('e4', 4, None, 'd1', (4, 110))]
replay('durable', 794986713)
