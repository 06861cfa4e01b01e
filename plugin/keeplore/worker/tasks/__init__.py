"""What the worker does beside answering and taking host events: a class for each kind of work."""
