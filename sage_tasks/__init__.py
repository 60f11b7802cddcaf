"""SAGE: pick, out of ten pictures, the one that shows the meant sense of a term."""
