"""From a query or a flow to one streaming DataFrame."""
