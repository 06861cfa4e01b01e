"""What may be told to an agent that nobody asked for it: by whose machine wrote it, who said it and
how it is worded.
"""
