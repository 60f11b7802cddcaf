"""The service: FastAPI owns the API, the HTML pages and all headers; Gradio is mounted in it."""
