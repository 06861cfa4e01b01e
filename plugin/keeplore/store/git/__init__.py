"""Git underneath the store: libgit2, the user's own git, and what a checkout says of itself."""
