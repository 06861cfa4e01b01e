"""Where passages are searched: in this machine's own files, or in a server that a team shares."""
