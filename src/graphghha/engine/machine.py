"""What the engine can use on this machine: cores, vector units, number formats, a compiler. Standard library only."""

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
    """The description of a machine; ready for JSON."""

    cpu: str
    arch: str
    system: str
    cores: int  # available to this process
    features: dict[str, bool]
    dtypes: dict[str, str]  # dtype -> how the native path would run it
    compiler: str | None
    backends: dict[str, bool]  # whether what the backend needs is installed


def machine() -> Machine:
    """Return a description of this machine."""
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
    """Return the number of processors this process may use, which containers and taskset often limit."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compiler() -> str | None:
    """Return the path of the C compiler for the native backend: $CC, else cc, gcc or clang."""
    names = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    return next((path for name in names if (path := shutil.which(name))), None)


def _cpu() -> tuple[str, set[str]]:
    """Return the model name of the processor and its feature flags."""
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
    # sums in half precision lose too much accuracy over a layer, so fp16 is only a storage format
    return {"fp32": vector, "bf16": bf16, "fp16": "stored in 16 bit, computed in fp32"}
