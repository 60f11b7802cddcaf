"""Time and memory of a build over many pictures, against decoding and encoding each.

    python tools/bench/bench_build.py --pictures 20000 --side 480 --folder DIR

Pictures are made once (JPEG, blurred noise with detail like a photograph's) and kept in the
folder. Both sides run in processes of their own, so each memory figure is one side's. A disk of
the machine's own is warmed by reading every file once before either side runs.
"""

from __future__ import annotations

import argparse
import io
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path


def make_source(folder: Path, pictures: int, side: int) -> None:
    """A download of VWSD: ``pictures`` JPEG files and a row for each ten of them."""
    import numpy as np
    from PIL import Image

    images = folder / "test_images"
    images.mkdir(parents=True, exist_ok=True)
    names = [f"image.{n}.jpg" for n in range(pictures)]
    draw = np.random.default_rng(0)
    coarse = draw.integers(0, 256, (64, side // 8, side // 8, 3), dtype=np.uint8)
    fine = draw.integers(-20, 21, (side, side, 3), dtype=np.int16)
    for number, name in enumerate(names):
        path = images / name
        if path.is_file():
            continue
        base = Image.fromarray(coarse[number % 64]).resize((side, side), Image.Resampling.BICUBIC)
        noisy = np.asarray(base, dtype=np.int16) + np.roll(fine, number, axis=0)
        noisy[:4, :4] = number % 251, number // 251 % 251, number // 63001
        picture = Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))
        picture.save(path, quality=85)
    rows = ["\t".join(["bat", "a bat", *names[n : n + 10]]) for n in range(0, pictures, 10)]
    (folder / "en.test.data.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    golds = "\n".join(names[::10]) + "\n"
    (folder / "en.test.gold.txt").write_text(golds, encoding="utf-8")


def build_side(folder: Path) -> None:
    """Build the dataset as the command does."""
    from sage_tasks.build.pipeline import Options, build
    from sage_tasks.build.vwsd import read_vwsd

    build(read_vwsd(folder), folder / "out", Options())


def decode_side(folder: Path) -> None:
    """What ``datasets`` users often do: decode each picture and encode it again into shards."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from PIL import Image

    paths = sorted((folder / "test_images").iterdir())
    schema = pa.schema([("bytes", pa.binary()), ("path", pa.string())])
    with pq.ParquetWriter(folder / "out.parquet", schema, compression="none") as writer:
        for start in range(0, len(paths), 16):
            rows = []
            for path in paths[start : start + 16]:
                stream = io.BytesIO()
                with Image.open(path) as opened:
                    opened.convert("RGB").save(stream, "JPEG", quality=85)
                rows.append({"bytes": stream.getvalue(), "path": path.name})
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


SIDES = {"build": build_side, "decode": decode_side}


def run_side(name: str, folder: Path) -> None:
    """One side in this process; prints seconds, processor seconds and peak memory."""
    started = time.perf_counter()
    SIDES[name](folder)
    seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    measured = {
        "seconds": seconds,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mib": used.ru_maxrss / 1024,
    }
    sys.stdout.write(json.dumps(measured) + "\n")


def main() -> None:
    """Run both sides the given number of times and print the best time of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=20_000)
    parser.add_argument("--side", type=int, default=480, help="height and width in pixels")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--only", choices=sorted(SIDES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        run_side(options.only, options.folder)
        return
    make_source(options.folder, options.pictures, options.side)
    size = 0
    for path in (options.folder / "test_images").iterdir():
        size += len(path.read_bytes())
    best: dict[str, dict[str, float]] = {}
    for _ in range(options.repeat):
        for name in SIDES:
            shutil.rmtree(options.folder / "out", ignore_errors=True)
            command = [sys.executable, __file__, "--folder", str(options.folder), "--only", name]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            measured = json.loads(run.stdout)
            if name not in best or measured["seconds"] < best[name]["seconds"]:
                best[name] = measured
    result = {
        "pictures": options.pictures,
        "mib": size / 2**20,
        **best,
        "times_faster": best["decode"]["seconds"] / best["build"]["seconds"],
        "times_faster_cpu": best["decode"]["cpu_seconds"] / best["build"]["cpu_seconds"],
    }
    sys.stdout.write(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
