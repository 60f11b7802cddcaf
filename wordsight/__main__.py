"""``python -m wordsight``, for launchers that start modules (torch.distributed.run, ...)."""

from wordsight.cli import main

main()
