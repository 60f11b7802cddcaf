"""Building the SAGE datasets from the files that their authors publish."""
