"""A conversation's title, in the words that were used."""
