"""Host events → conversations: observe, redact, segment, distil, write; notes and summaries beside
them.
"""
