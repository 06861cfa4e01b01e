"""Taking in what others committed: plan, merge, repair, recovery."""
