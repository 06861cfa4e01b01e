"""The command line: the only layer beside the worker that reads the environment and prints."""
