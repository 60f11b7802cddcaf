"""Errors that a user can act on: each says what is wrong, where, and what to do."""


class WordsightError(Exception):
    """Base of every error raised on purpose; the command line prints it without a traceback."""


class DataError(WordsightError):
    """A dataset, picture or samples file is missing, damaged or of another version."""


class IncompleteRunError(WordsightError):
    """A run ended with requests that failed; running it again with ``--resume`` completes it."""
