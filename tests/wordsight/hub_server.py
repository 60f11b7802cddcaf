"""A small server that answers the Hub's HTTP calls for dataset repositories, on loopback.

Only what the real ``huggingface_hub`` client asks for when it makes a repository, sends files,
commits, lists and downloads. Repositories live in memory. A failure can be ordered, to see what
an interrupted upload leaves behind. Runs by itself, too: ``python hub_server.py PORT``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

Tree = dict[str, bytes]


@dataclass
class Repository:
    """Commits by hash, and where each branch points."""

    private: bool = False
    commits: dict[str, Tree] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)

    def resolve(self, revision: str) -> str | None:
        found = self.branches.get(revision, revision)
        return found if found in self.commits else None

    def commit(self, branch: str, tree: Tree) -> str:
        parent = self.branches.get(branch, "")
        text = parent + "".join(f"{k} {_sha1(v)}\n" for k, v in sorted(tree.items()))
        name = hashlib.sha1(text.encode()).hexdigest()
        self.commits[name] = tree
        self.branches[branch] = name
        return name


@dataclass
class State:
    """Everything the server holds, and what it was asked for."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    uploads: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    fail_after_uploads: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class Handler(BaseHTTPRequestHandler):
    """One request; the routes are tried in order."""

    protocol_version = "HTTP/1.1"
    state: State

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(
        self, status: int, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        given = headers or {}
        for name, value in given.items():
            self.send_header(name, value)
        if "Content-Length" not in given:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _json(self, payload: Any, status: int = 200) -> None:
        self._answer(status, json.dumps(payload).encode(), {"Content-Type": "application/json"})

    def _missing(self, code: str) -> None:
        self._answer(404, b'{"error":"not found"}', {"X-Error-Code": code})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _handle(self) -> None:
        body = self._body()
        path = unquote(urlsplit(self.path).path)
        with self.state.lock:
            self.state.calls.append(f"{self.command} {path}")
            for method, pattern, name in ROUTES:
                match = re.fullmatch(pattern, path)
                if match and self.command in method:
                    getattr(self, name)(body, **match.groupdict())
                    return
        self._missing("EntryNotFound")

    do_GET = do_POST = do_PUT = do_HEAD = _handle  # noqa: N815

    def _repository(self, repo: str) -> Repository | None:
        found = self.state.repositories.get(repo)
        if found is None:
            self._missing("RepoNotFound")
        return found

    def create(self, body: bytes) -> None:
        asked = json.loads(body)
        name = f"{asked.get('organization') or 'user'}/{asked['name']}"
        if name in self.state.repositories:
            self._json({"error": "exists", "url": self._url(name)}, 409)
            return
        repository = Repository(private=asked.get("visibility") == "private")
        repository.commit("main", {".gitattributes": b"*.parquet filter=lfs\n"})
        self.state.repositories[name] = repository
        self._json({"url": self._url(name), "name": name})

    def _url(self, path: str) -> str:
        return f"http://{self.headers['Host']}/datasets/{path}"

    def branch(self, body: bytes, repo: str, rev: str) -> None:
        repository = self._repository(repo)
        if repository:
            if rev in repository.branches:
                self._json({"error": "exists"}, 409)
                return
            repository.branches[rev] = repository.branches["main"]
            self._json({})

    def validate(self, body: bytes) -> None:
        import yaml

        content = json.loads(body)["content"]
        header = yaml.safe_load(content.split("---\n")[1])
        ok = isinstance(header, dict) and isinstance(header.get("configs", []), list)
        message = [] if ok else [{"message": "metadata is no mapping"}]
        self._json({"errors": message, "warnings": []}, 200 if ok else 400)

    def preupload(self, body: bytes, repo: str, rev: str) -> None:
        if self._repository(repo):
            files = [
                {
                    "path": file["path"],
                    "uploadMode": "lfs" if file["path"].endswith(".parquet") else "regular",
                    "shouldIgnore": False,
                }
                for file in json.loads(body)["files"]
            ]
            self._json({"files": files})

    def lfs_batch(self, body: bytes, repo: str) -> None:
        objects = []
        for entry in json.loads(body)["objects"]:
            answer: dict[str, Any] = dict(entry)
            if entry["oid"] not in self.state.objects:
                answer["actions"] = {"upload": {"href": self._url(f"upload/{entry['oid']}")}}
            objects.append(answer)
        self._json({"transfer": "basic", "objects": objects})

    def upload(self, body: bytes, oid: str) -> None:
        limit = self.state.fail_after_uploads
        if limit is not None and len(self.state.uploads) >= limit:
            self._answer(403, b"interrupted")
            return
        if hashlib.sha256(body).hexdigest() != oid:
            self._answer(400, b"wrong hash")
            return
        self.state.objects[oid] = body
        self.state.uploads.append(oid)
        self._answer(200)

    def commit(self, body: bytes, repo: str, rev: str) -> None:
        repository = self._repository(repo)
        if not repository:
            return
        head = repository.resolve(rev)
        tree = dict(repository.commits[head]) if head else {}
        for line in body.decode().splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "file":
                tree[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                tree[value["path"]] = self.state.objects[value["oid"]]
            elif entry["key"] == "deletedFile":
                del tree[value["path"]]
        name = repository.commit(rev, tree)
        self._json(
            {"success": True, "commitOid": name, "commitUrl": self._url(f"{repo}/commit/{name}")}
        )

    def info(self, body: bytes, repo: str, rev: str = "main") -> None:
        repository = self._repository(repo)
        if repository:
            sha = repository.resolve(rev)
            if sha is None:
                self._missing("RevisionNotFound")
                return
            files = [{"rfilename": path} for path in sorted(repository.commits[sha])]
            self._json({"id": repo, "sha": sha, "private": repository.private, "siblings": files})

    def tree(self, body: bytes, repo: str, rev: str) -> None:
        repository = self._repository(repo)
        if repository:
            sha = repository.resolve(rev)
            if sha is None:
                self._missing("RevisionNotFound")
                return
            self._json([_entry(k, v) for k, v in sorted(repository.commits[sha].items())])

    def resolve(self, body: bytes, repo: str, rev: str, file: str) -> None:
        repository = self._repository(repo)
        if repository:
            sha = repository.resolve(rev)
            if sha is None:
                self._missing("RevisionNotFound")
            elif file not in repository.commits[sha]:
                self._missing("EntryNotFound")
            else:
                content = repository.commits[sha][file]
                asked = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
                start = int(asked.group(1)) if asked else 0
                entry = _entry(file, content)
                self._answer(
                    206 if start else 200,
                    content[start:],
                    {
                        "ETag": f'"{entry.get("lfs", entry)["oid"]}"',
                        "X-Repo-Commit": sha,
                        "Content-Length": str(len(content) - start),
                    },
                )


NAME = r"[^/]+/[^/]+"
ROUTES = [
    (("POST",), r"/api/repos/create", "create"),
    (("POST",), r"/api/validate-yaml", "validate"),
    (("POST",), rf"/api/datasets/(?P<repo>{NAME})/branch/(?P<rev>[^/]+)", "branch"),
    (("POST",), rf"/api/datasets/(?P<repo>{NAME})/preupload/(?P<rev>[^/]+)", "preupload"),
    (("POST",), rf"/api/datasets/(?P<repo>{NAME})/commit/(?P<rev>[^/]+)", "commit"),
    (("POST",), rf"/datasets/(?P<repo>{NAME})\.git/info/lfs/objects/batch", "lfs_batch"),
    (("PUT",), r"/datasets/upload/(?P<oid>[0-9a-f]{64})", "upload"),
    (("GET",), rf"/api/datasets/(?P<repo>{NAME})", "info"),
    (("GET",), rf"/api/datasets/(?P<repo>{NAME})/revision/(?P<rev>[^/]+)", "info"),
    (("GET",), rf"/api/datasets/(?P<repo>{NAME})/tree/(?P<rev>[^/]+)/?", "tree"),
    (
        ("GET", "HEAD"),
        rf"/datasets/(?P<repo>{NAME})/resolve/(?P<rev>[^/]+)/(?P<file>.+)",
        "resolve",
    ),
]


def _sha1(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _entry(path: str, content: bytes) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": "file",
        "path": path,
        "size": len(content),
        "oid": _sha1(content),
    }
    if path.endswith(".parquet"):
        digest = hashlib.sha256(content).hexdigest()
        entry["lfs"] = {"oid": digest, "size": len(content), "pointerSize": 134}
    return entry


def start(port: int = 0) -> tuple[ThreadingHTTPServer, State, str]:
    """Start a server in a thread; returns it, its state and its address."""
    state = State()
    handler = type("BoundHandler", (Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, state, f"http://127.0.0.1:{server.server_address[1]}"


def settings(address: str, folder: Path) -> dict[str, str]:
    """Variables by which a process knows this Hub and keeps what it fetches in ``folder``."""
    return {
        "HF_ENDPOINT": address,
        "HF_HOME": str(folder / "hf"),
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0",
        "HF_TOKEN": "hf_local",
        "WORDSIGHT_REVISIONS": str(folder / "revisions.json"),
    }


def environment(address: str, folder: Path) -> dict[str, str]:
    """The same for a process that has nothing of the developer's own Hub or data."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "WORDSIGHT_"))}
    return clean | settings(address, folder)


if __name__ == "__main__":
    sys.stdout.write(start(int(sys.argv[1]))[2] + "\n")
    sys.stdout.flush()
    threading.Event().wait()
