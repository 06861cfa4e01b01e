"""The graph to look at: one picture of what memories are about, written as a tree, DOT, Mermaid,
JSON or a page.
"""
