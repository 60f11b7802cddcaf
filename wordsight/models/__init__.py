"""lmms-eval models that answer under the response contract of :mod:`wordsight.answers`."""
