"""Symbal as a daily tool: audit any set of captions."""
