"""GAR, gloss-augmented reasoning: define the meant sense, then check it on every picture."""
