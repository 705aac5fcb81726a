"""Campaign objects, seed 1000."""

from tests.fuzz.found import replay

# 'Block' object has no attribute 'enter'
# import datetime
# from decimal import Decimal
#
# from tests.fuzz.object_histories import Ref, follow
#
# # 'Block' object has no attribute 'enter'
# follow(
#     'ZOO_OF_ARRAYS',
#     [
#         ('change', 'commit', [('new', 'animal', '', {'name': 'An%', 'legs': 1, 'weight': 2.0, 'price': Decimal('4.15'), 'seen': datetime.datetime(2001, 1, 1, 10, 0), 'tags': ['Cat', None], 'meals': [None, 6], 'scores': [6, 4], 'notes': {'l': 2}, 'rival': None, 'keepers': []}, None, 1)]),
#     ],
# )
#
# import datetime
# from decimal import Decimal
#
# from tests.fuzz.object_histories import Ref, follow
#
# # 'Block' object has no attribute 'enter'
# follow(
#     'ZOO_OF_ARRAYS',
#     [
#         ('change', 'commit', [('new', 'animal', '', {'name': 'An%', 'legs': 1, 'weight': 2.0, 'price': Decimal('4.15'), 'seen': datetime.datetime(2001, 1, 1, 10, 0), 'tags': ['Cat', None], 'meals': [None, 6], 'scores': [6, 4], 'notes': {'l': 2}, 'rival': None, 'keepers': []}, None, 1)]),
#     ],
# )
replay('objects', 1000)
