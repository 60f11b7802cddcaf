"""Putting the service together."""

from __future__ import annotations

import tempfile

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from leaderboard.server import api, intake, pages
from leaderboard.server.security import Guard
from leaderboard.server.service import DAMAGE, Service
from wordsight import __version__
from wordsight.errors import DataError


def create_app(service: Service) -> FastAPI:
    """The ASGI application: API, plain pages, and Gradio at the root."""
    settings = service.settings
    app = FastAPI(
        title=service.store.catalog.title, version=__version__, docs_url=None, redoc_url=None
    )

    @app.exception_handler(DataError)
    def missing(request: Request, error: DataError) -> JSONResponse:
        status = 500 if isinstance(error, DAMAGE) else 404
        return JSONResponse({"detail": str(error)}, status_code=status)

    takes_in = intake.router(service)
    app.include_router(api.router(service, takes_in.routes))
    app.include_router(takes_in)
    app.include_router(pages.router(service))
    _mount(app, service)
    # the last added is the outermost: headers go before anything reads them
    app.add_middleware(GZipMiddleware, minimum_size=2000)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(settings.allowed_hosts))
    app.add_middleware(Guard, max_body=settings.max_body)
    return app


def _mount(app: FastAPI, service: Service) -> None:
    import gradio as gr

    from leaderboard.server.ui import CSS, HEAD, build_ui

    sans = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "DejaVu Sans"]
    # fonts by name only: the theme's default would fetch some from another server
    theme = gr.themes.Default(
        primary_hue="blue",
        neutral_hue="slate",
        font=sans,
        font_mono=["ui-monospace", "DejaVu Sans Mono"],
    )
    gr.mount_gradio_app(
        app,
        build_ui(service),
        path="/",
        ssr_mode=False,
        run_history=False,  # its route trusts the Host header in gradio before 6.32
        footer_links=[],
        max_file_size=service.settings.max_body,
        show_error=False,
        blocked_paths=[str(service.store.root.resolve()), tempfile.gettempdir()],
        enable_monitoring=False,
        theme=theme,
        css=CSS,
        head=HEAD,
    )
