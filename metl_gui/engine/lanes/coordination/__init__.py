"""How all lanes of a matrix come to map with the same state: members that meet on a compacted topic.

``records`` has its keys and values, ``state`` the rule by which all come to the same answer, ``topic`` the topic in
Kafka, ``member`` one member without a client, ``coordinator`` one with its clients and threads, ``announcements`` what
people and drivers say to all. May import ``engine.kafka``; knows nothing of the other modules of lanes.
"""
