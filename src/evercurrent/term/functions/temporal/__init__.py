"""Functions of dates, times of day and timestamps.

date_parts     parts of dates, times of day, timestamps and intervals
date_patterns  patterns of dates and times, in Java's letters
date_texts     dates, times of day and timestamps from text and to text, by pattern
datetimes      functions of dates and timestamps
times          functions of times of day
"""
