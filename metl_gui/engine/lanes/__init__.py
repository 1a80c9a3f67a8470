"""Fast lanes: long-lived Spark tasks that consume, map and produce in Kafka transactions, record for record.

A lane is one run (``strategy``) whose tasks (``task``) share the partitions of its source as members of one consumer
group. What a task sends, what it sets aside, how far it is and what it has counted become visible in one transaction or
not at all, so that whatever dies, the task that comes next goes on where the last transaction ended, and the counts of
all partitions still add up. Nothing else is kept anywhere: figures and report are read out of what was committed. May
import all of the engine but ``streaming`` and ``execution``.
"""
