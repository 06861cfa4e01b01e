"""A conversation's substance as quotations: decisions, reasons, outcome, title."""
