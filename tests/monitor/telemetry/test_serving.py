"""What vLLM and SGLang tell of themselves."""

import pytest

from rltop.models.gpu import Serving
from rltop.monitor.telemetry.serving import Engine

NOW = 1_800_000_000.0


def vllm(generated: float, queries: float = 1000, hits: float = 400, prefix: str = "vllm:") -> str:
    """Two replicas; the second does half as much."""
    lines: list[str] = [
        f'{prefix}e2e_request_latency_seconds_bucket{{engine="0",le="0.3"}} 5.0',
        f'{prefix}generation_tokens_created{{engine="0"}} 1.8e+09',
    ]
    for engine, share in ((0, 1.0), (1, 0.5)):
        labels = f'{{engine="{engine}",model_name="Qwen/Qwen3-8B"}}'
        lines += [
            f"{prefix}num_requests_running{labels} {24 * share}",
            f"{prefix}num_requests_waiting{labels} {6 * share}",
            f"{prefix}kv_cache_usage_perc{labels} {0.8 * share}",
            f"{prefix}prefix_cache_queries_total{labels} {queries * share}",
            f"{prefix}prefix_cache_hits_total{labels} {hits * share}",
            f"{prefix}generation_tokens_total{labels} {generated * share}",
        ]
    return "\n".join(lines)


def reading(engine: Engine, text: str, at: float) -> Serving:
    told = engine.reading(text, at)
    assert told is not None
    return told


@pytest.mark.parametrize("prefix", ["vllm:", "ray_vllm_"])
def test_the_replicas_of_a_vllm_are_taken_together(prefix: str) -> None:
    engine = Engine("node1:8000")
    first = reading(engine, vllm(10_000, prefix=prefix), NOW)
    second = reading(engine, vllm(12_000, queries=1500, hits=800, prefix=prefix), NOW + 2)
    assert (second.engine, second.model, second.host) == ("vllm", "Qwen/Qwen3-8B", "node1:8000")
    assert (second.running, second.waiting, second.kv_cache_use) == (36.0, 9.0, 0.8)
    assert (first.generation_tokens_per_s, second.generation_tokens_per_s) == (None, 1500.0)
    assert (first.prefix_hit_rate, second.prefix_hit_rate) == (0.4, 0.8)


def test_an_engine_that_was_started_anew_has_no_rate_until_it_is_looked_at_again() -> None:
    engine = Engine("h")
    rates = [
        reading(engine, vllm(generated), NOW + at).generation_tokens_per_s
        for at, generated in ((0, 10_000), (2, 400), (4, 600))
    ]
    assert rates == [None, None, 150.0]


def test_while_nobody_asks_there_is_no_hit_rate() -> None:
    engine = Engine("h")
    reading(engine, vllm(10_000), NOW)
    told = reading(engine, vllm(10_000), NOW + 2)
    assert (told.prefix_hit_rate, told.generation_tokens_per_s) == (None, 0.0)


@pytest.mark.parametrize(("awake", "asleep"), [((1, 1), False), ((0, 1), False), ((0, 0), True), ((), None)])
def test_an_engine_is_asleep_when_no_replica_is_awake(awake: tuple[int, ...], asleep: bool | None) -> None:
    states = "".join(
        f'\nvllm:engine_sleep_state{{engine="{number}",sleep_state="awake"}} {on}'
        f'\nvllm:engine_sleep_state{{engine="{number}",sleep_state="weights_offloaded"}} {1 - on}'
        for number, on in enumerate(awake)
    )
    assert reading(Engine("h"), vllm(1) + states, NOW).asleep is asleep


def test_the_shards_of_an_sglang_count_once_and_its_replicas_are_summed() -> None:
    def page(generated: float) -> str:
        return "\n".join(
            f'{name}{{dp_rank="{dp}",model_name="m",pp_rank="0",tp_rank="{tp}"}} {value}'
            for dp in (0, 1)
            for tp in (0, 1)
            for name, value in (
                ("sglang:num_running_reqs", 10), ("sglang:num_queue_reqs", 2), ("sglang:token_usage", 0.5),
                ("sglang:cache_hit_rate", 0.25), ("sglang:gen_throughput", 999.0),
                ("sglang:generation_tokens_total", generated),
            )
        )  # fmt: skip

    engine = Engine("h")
    reading(engine, page(1000), NOW)
    told = reading(engine, page(2000), NOW + 2)
    assert (told.engine, told.running, told.waiting, told.kv_cache_use) == ("sglang", 20.0, 4.0, 0.5)
    assert told.prefix_hit_rate == 0.25
    assert told.generation_tokens_per_s == 1000.0, "a counter, not the gauge that stays when the work is done"


def test_an_sglang_without_the_counter_tells_its_own_rate() -> None:
    assert reading(Engine("h"), "sglang:gen_throughput 512.5\n", NOW).generation_tokens_per_s == 512.5


def test_shares_that_cannot_be_are_unknown() -> None:
    told = reading(Engine("h"), "vllm:kv_cache_usage_perc 1.7\nsglang:cache_hit_rate -1\n", NOW)
    assert (told.kv_cache_use, told.prefix_hit_rate) == (None, None)


def test_a_page_of_something_else_is_of_no_engine() -> None:
    assert Engine("h").reading("process_cpu_seconds_total 5\n", NOW) is None
