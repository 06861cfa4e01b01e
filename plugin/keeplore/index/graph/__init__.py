"""Who and what the memories are about: entities, their relations and where they are mentioned,
derived from the text.

Every row belongs to one file and goes with it, and nothing is summed up in the tables but counters
that triggers keep: so the graph is the same whatever came first.
"""
