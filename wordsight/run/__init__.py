"""Running lmms-eval with a true exit status, resume, shards and a run manifest."""
