"""HTML pages, shared by the server and the static export."""
