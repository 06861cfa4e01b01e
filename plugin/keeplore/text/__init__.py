"""Text itself: words, sentences, dates, fences and what is folded away. Pure functions that know
nothing of a memory.
"""
