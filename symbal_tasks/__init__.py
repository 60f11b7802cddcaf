"""SymbalBench: find the systematic error in a set of captions."""
