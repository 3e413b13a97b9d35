"""Rows of streams and tables on their way into a query: read, checked, dated, routed to groups."""
