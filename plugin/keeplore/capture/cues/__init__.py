"""The cue phrases that capture reads by, as data, and how they are written down."""
