"""What vLLM and SGLang tell of themselves on `/metrics`. Its one rule: replicas are summed, shards are not.

Names: vLLM's v1/metrics/loggers.py (those of a vLLM inside Ray Serve begin with `ray_vllm_`); SGLang's
srt/metrics/collector.py, which needs --enable-metrics. SLiME's router has those of all its engines under
`/engine_metrics`.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from ...models.gpu import Serving
from ...models.text import printable
from .promtext import Point, points

RUNNING = ("vllm:num_requests_running", "sglang:num_running_reqs")
WAITING = ("vllm:num_requests_waiting", "sglang:num_queue_reqs")
CACHE = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage")
LOOKED_UP = ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total")
FOUND = ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total")
HIT_RATE = ("sglang:cache_hit_rate",)
GENERATED = ("vllm:generation_tokens_total", "sglang:generation_tokens_total")
RATE = ("sglang:gen_throughput",)
SLEEP = ("vllm:engine_sleep_state",)
ALL = (*RUNNING, *WAITING, *CACHE, *LOOKED_UP, *FOUND, *HIT_RATE, *GENERATED, *RATE, *SLEEP)
RAY_NAMES = {name.replace("vllm:", "ray_vllm_"): name for name in ALL if name.startswith("vllm:")}
WANTED = (*ALL, *RAY_NAMES)
SHARDS = ("tp_rank", "pp_rank")
"""Labels of the GPUs that one replica is spread over: each tells the same, and the first will do."""


class Counters(NamedTuple):
    """What only grows, at one moment."""

    at: float
    generated: float | None
    looked_up: float | None
    found: float | None


class Engine:
    """The engines behind one address."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._before: Counters | None = None

    def reading(self, text: str, at: float) -> Serving | None:
        """What a page of metrics says at `at`, unix seconds; None where it is of no engine."""
        known = [_renamed(point) for point in points(text, WANTED) if _of_first_shard(point)]
        if not known:
            return None
        now = Counters(at, _sum(known, GENERATED), _sum(known, LOOKED_UP), _sum(known, FOUND))
        before, self._before = self._before, now
        running = _sum(known, RUNNING)
        rate = _per_second(before, now)
        return Serving(
            at=at,
            host=self._host,
            engine=_engine(known),
            model=_model(known),
            running=running,
            waiting=_sum(known, WAITING),
            kv_cache_use=_share(max(_values(known, CACHE), default=None)),
            prefix_hit_rate=_hit_rate(before, now, known),
            generation_tokens_per_s=_sum(known, RATE) if now.generated is None else rate,
            asleep=_asleep(known),
        )


def _renamed(point: Point) -> Point:
    name = RAY_NAMES.get(point.name)
    return point if name is None else point._replace(name=name)


def _of_first_shard(point: Point) -> bool:
    return all(point.labels.get(label, "0") in ("0", "") for label in SHARDS)


def _engine(known: list[Point]) -> Literal["vllm", "sglang"]:
    return "vllm" if known[0].name.startswith("vllm") else "sglang"


def _model(known: list[Point]) -> str | None:
    names = sorted({name for point in known if (name := point.labels.get("model_name"))})
    return printable(", ".join(names)) or None


def _values(known: Iterable[Point], names: tuple[str, ...]) -> list[float]:
    return [point.value for point in known if point.name in names]


def _sum(known: Iterable[Point], names: tuple[str, ...]) -> float | None:
    values = _values(known, names)
    return sum(values) if values else None


def _share(value: float | None) -> float | None:
    return value if value is not None and 0 <= value <= 1 else None


def _grown(before: float | None, now: float | None) -> float | None:
    """None where one is not known, or where an engine was started anew and counts from 0."""
    return now - before if before is not None and now is not None and now >= before else None


def _per_second(before: Counters | None, now: Counters) -> float | None:
    if before is None or now.at <= before.at:
        return None
    grown = _grown(before.generated, now.generated)
    return None if grown is None else grown / (now.at - before.at)


def _hit_rate(before: Counters | None, now: Counters, known: list[Point]) -> float | None:
    """Of the prompt tokens since the last look; of all so far at the first; None while nobody asks."""
    if now.looked_up is None:
        rates = _values(known, HIT_RATE)
        return _share(sum(rates) / len(rates)) if rates else None
    if before is None:
        looked_up, found = now.looked_up, now.found
    else:
        looked_up, found = _grown(before.looked_up, now.looked_up), _grown(before.found, now.found)
    return _share(found / looked_up) if looked_up and found is not None else None


def _asleep(known: list[Point]) -> bool | None:
    """Whether no replica is awake."""
    awake = [p.value for p in known if p.name in SLEEP and p.labels.get("sleep_state") == "awake"]
    return not any(awake) if awake else None
