"""Wordsight: do a vision-language model's words match what it sees?"""

__version__ = "0.1.0"
