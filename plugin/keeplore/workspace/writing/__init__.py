"""What changes memory because somebody wants it: notes, documents, entities, decisions, archive,
forgetting.
"""
