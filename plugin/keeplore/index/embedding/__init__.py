"""Text → vectors: models on this machine, models behind a server, and the change from one to
another.
"""
