"""Lexical knowledge: which meanings a term may have, each with a short definition."""
