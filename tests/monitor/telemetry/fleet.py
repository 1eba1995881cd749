"""Figures of a cluster that does not exist, as dcgm-exporter and Ray write them, and a little Prometheus.

The little Prometheus answers the few forms of question that we put, from what the exporters would tell.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

MIB_USED, MIB_FREE, MIB_RESERVED = 70000.0, 10000.0, 559.0


def dcgm(host: str, gpu: int, **more: str) -> dict[str, str]:
    """The labels of one GPU."""
    return {"gpu": str(gpu), "UUID": f"GPU-{host}-{gpu}", "device": f"nvidia{gpu}",
            "modelName": "NVIDIA H100 80GB HBM3", "hostname": host, **more}  # fmt: skip


def dcgm_values(util: float) -> dict[str, float]:
    return {
        "DCGM_FI_DEV_SM_CLOCK": 1755,
        "DCGM_FI_DEV_MEM_CLOCK": 2619,
        "DCGM_FI_DEV_GPU_TEMP": 61,
        "DCGM_FI_DEV_POWER_USAGE": 655.25,
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": 48112390112,
        "DCGM_FI_DEV_GPU_UTIL": util,
        "DCGM_FI_DEV_XID_ERRORS": 0,
        "DCGM_FI_DEV_FB_FREE": MIB_FREE,
        "DCGM_FI_DEV_FB_USED": MIB_USED,
        "DCGM_FI_DEV_FB_RESERVED": MIB_RESERVED,
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": util / 100,
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": 0.38,
    }


def line(name: str, labels: dict[str, str], value: float) -> str:
    inner = ",".join(f'{key}="{text}"' for key, text in labels.items())
    return f"{name}{{{inner}}} {value!r}\n"


def dcgm_page(host: str, gpus: int, util: Callable[[int], float] = lambda gpu: 90.0) -> str:
    """What one node's exporter says, with lines that are not asked for."""
    lines = ["# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"]
    for gpu in range(gpus):
        for name, value in {**dcgm_values(util(gpu)), "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 0.0}.items():
            lines.append(line(name, dcgm(host, gpu), value))
    return "".join(lines)


def ray_page(ip: str, gpus: int, util: float = 90.0) -> str:
    """What one node's agent says of its GPUs."""
    text = 'ray_node_cpu_utilization{ip="' + ip + '"} 12.0\n'
    for gpu in range(gpus):
        labels = {"GpuDeviceName": "NVIDIA H100 80GB HBM3", "GpuIndex": str(gpu), "ip": ip,
                  "GpuUuid": f"GPU-{ip}-{gpu}", "IsHeadNode": "false", "Version": "2.60.0"}  # fmt: skip
        text += line("ray_node_gpus_utilization", labels, util)
        text += line("ray_node_gram_used", labels, MIB_USED)
        text += line("ray_node_gram_available", labels, MIB_FREE)
        text += line("ray_node_gpu_power_milliwatts", labels, 655250.0)
    return text


class LittlePrometheus:
    """Answers /api/v1/query from series that a test sets."""

    def __init__(self, hosts: int, gpus: int, now: float) -> None:
        self.now = now
        self.asked: list[str] = []
        self.heard_at: dict[str, float] = defaultdict(lambda: self.now)
        """When each host's exporter was last heard, unix seconds."""
        self.series: list[tuple[str, dict[str, str], float]] = [
            (name, dcgm(f"node{host:03}", gpu), value)
            for host in range(hosts)
            for gpu in range(gpus)
            for name, value in dcgm_values(float((host + gpu) % 101)).items()
        ]

    def answer(self, path: str, body: str) -> bytes | int:
        if path != "/api/v1/query":
            return 404
        query = parse_qs(body)["query"][0]
        self.asked.append(query)
        match = re.fullmatch(r"(max|count) by \(([^)]*)\) \((timestamp\()?(\w*)(?:\{(.*)\})?\)?\)", query)
        if match is None:
            return 400
        by = match[2].split(", ")
        matchers = dict(re.findall(r'(\w+)=~?"([^"]*)"', match[5] or ""))
        names = set(matchers.pop("__name__", match[4]).split("|"))
        groups: dict[tuple[tuple[str, str], ...], list[float]] = defaultdict(list)
        for name, labels, value in self.series:
            if name not in names or any(labels.get(key) != text for key, text in matchers.items()):
                continue
            known = {"__name__": name, **labels}
            group = tuple((label, known[label]) for label in by if label in known)
            groups[group].append(self.heard_at[labels["hostname"]] if match[3] else value)
        result: list[dict[str, Any]] = [
            {
                "metric": dict(group),
                "value": [self.now, repr(max(values) if match[1] == "max" else len(values))],
            }
            for group, values in groups.items()
        ]
        return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()
