"""What this machine offers to the engine: threads, vector units, number formats, a compiler. Standard library only."""

import os
import platform
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

# our name -> the kernel's flag (Linux) and the sysctl key (macOS)
_FEATURES = {
    "avx2": ("avx2", "hw.optional.avx2_0"),
    "fma": ("fma", "hw.optional.fma"),
    "f16c": ("f16c", "hw.optional.f16c"),
    "avx512": ("avx512f", "hw.optional.avx512f"),
    "avx512_bf16": ("avx512_bf16", ""),
    "avx512_fp16": ("avx512_fp16", ""),
    "amx_bf16": ("amx_bf16", ""),
    "neon": ("asimd", "hw.optional.neon"),
}


class Machine(TypedDict):
    """What `machine()` returns; ready for JSON."""

    cpu: str
    arch: str
    system: str
    cores: int  # that this process may use
    features: dict[str, bool]
    dtypes: dict[str, str]  # dtype -> how the native path would run it
    compiler: str | None
    backends: dict[str, bool]  # is what the backend needs installed?


def machine() -> Machine:
    """A description of this machine as a plain dict."""
    cpu, flags = _cpu()
    features = {name: bool(flags & set(keys)) for name, keys in _FEATURES.items()}
    cc = compiler()
    return Machine(
        cpu=cpu,
        arch=platform.machine(),
        system=f"{platform.system()} {platform.release()}",
        cores=cores(),
        features=features,
        dtypes=_dtypes(features),
        compiler=cc,
        backends={
            "torch": find_spec("torch") is not None,
            "native": cc is not None,
            "onnx": find_spec("onnxruntime") is not None,
        },
    )


def cores() -> int:
    """Processors this process may run on; containers and taskset often allow fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compiler() -> str | None:
    """Path of the C compiler the native path would use: $CC, else cc, gcc or clang."""
    names = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    return next((path for name in names if (path := shutil.which(name))), None)


def _cpu() -> tuple[str, set[str]]:
    """Model name and feature flags."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line.split(":", 1) for line in cpuinfo.read_text(encoding="utf-8").splitlines() if ":" in line]
        fields = {key.strip(): value.strip() for key, value in reversed(lines)}
        flags = fields.get("flags", fields.get("Features", ""))
        return fields.get("model name", platform.machine()), set(flags.split())
    keys = [key for _, key in _FEATURES.values() if key]
    return _sysctl("machdep.cpu.brand_string") or platform.processor(), {key for key in keys if _sysctl(key) == "1"}


def _sysctl(key: str) -> str:
    if not shutil.which("sysctl"):
        return ""
    return subprocess.run(["sysctl", "-n", key], capture_output=True, text=True, check=False).stdout.strip()


def _dtypes(features: dict[str, bool]) -> dict[str, str]:
    vector = "AVX-512" if features["avx512"] else "AVX2" if features["avx2"] and features["fma"] else "portable C"
    bf16 = next(
        (
            text
            for key, text in (("amx_bf16", "AMX tiles"), ("avx512_bf16", "AVX512-BF16 dot products"))
            if features[key]
        ),
        "stored in 16 bit, computed in fp32",
    )
    # sums in half precision lose too much over a layer: fp16 is a storage format even where the CPU could add in it
    return {"fp32": vector, "bf16": bf16, "fp16": "stored in 16 bit, computed in fp32"}
