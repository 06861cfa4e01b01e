"""How memory comes in by itself: host events, recorded sessions, a host's own notes, projects'
manifests.
"""
