"""What brings memory in from outside: host events, recorded sessions, a host's own notes, projects'
manifests.
"""
