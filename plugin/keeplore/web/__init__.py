"""The window into memory: pages in the browser that show what the command line shows, and do what
it does.

It needs the extra ``keeplore[web]``, and is loaded by ``keeplore open`` alone.
"""
