"""GPUs by the figures of dcgm-exporter, Ray and Prometheus, from servers on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import pytest

from rltop.models.gpu import GpuSample, Serving
from rltop.monitor.telemetry.places import PlaceError, gpus_from, samplers_of
from rltop.monitor.telemetry.sampler import Sampler

from .fleet import LittlePrometheus, dcgm, dcgm_page, line, ray_page
from .web import serving

NOW = 1_800_000_000.0


def look(sampler: Sampler, now: float = NOW) -> list[GpuSample]:
    """The GPUs, once they are read."""
    sampler.order(now)
    assert sampler.wait(20)
    return [told for told in sampler.latest(now) if isinstance(told, GpuSample)]


def one_look(place: str) -> list[GpuSample]:
    (sampler,) = samplers_of(place, want_tensor=True)
    try:
        return look(sampler)
    finally:
        sampler.close()


def test_a_page_of_dcgm_exporter_is_read_in_our_units() -> None:
    with serving({"/metrics": dcgm_page("node1", 8, lambda gpu: 90.0 + gpu)}) as host:
        (sample,) = one_look(f"http://{host}")
    assert (sample.host, sample.backend, sample.at, len(sample.gpus)) == ("node1", "dcgm", NOW, 8)
    assert sample.gpus[3].model_dump(exclude_defaults=True) == {
        "index": 3,
        "uuid": "GPU-node1-3",
        "name": "NVIDIA H100 80GB HBM3",
        "util": 93.0,
        "mem_used_gb": pytest.approx(73.4003),
        "mem_total_gb": pytest.approx(84.472, abs=1e-3),
        "power_w": 655.25,
        "temp_c": 61.0,
        "tensor_active": 38.0,
        "energy_j": 48112390.112,
        "clock_mhz": 1755.0,
        "mem_clock_mhz": 2619.0,
    }


def read(text: str) -> list[GpuSample]:
    with serving({"/metrics": text}) as host:
        return one_look(f"http://{host}/metrics")


def test_what_dcgm_writes_for_blank_is_unknown() -> None:
    blank = 9223372036854775794.0
    (sample,) = read(
        line("DCGM_FI_DEV_GPU_UTIL", dcgm("n", 0), blank) + line("DCGM_FI_DEV_GPU_TEMP", dcgm("n", 0), 55)
    )
    assert (sample.gpus[0].util, sample.gpus[0].temp_c, sample.gpus[0].state) == (None, 55.0, "ok")


def test_an_older_exporter_that_spells_the_host_otherwise_is_read() -> None:
    labels = {"gpu": "0", "UUID": "GPU-x", "Hostname": "old-node"}
    (sample,) = read(line("DCGM_FI_DEV_GPU_UTIL", labels, 5))
    assert (sample.host, sample.gpus[0].util) == ("old-node", 5.0)


def test_a_gpu_off_the_bus_is_lost_and_its_error_is_told() -> None:
    (sample,) = read(
        line("DCGM_FI_DEV_XID_ERRORS", dcgm("n", 0), 79)
        + line("DCGM_FI_DEV_XID_ERRORS", dcgm("n", 1), 31) + line("DCGM_FI_DEV_GPU_UTIL", dcgm("n", 1), 5)
    )  # fmt: skip
    assert [(gpu.state, gpu.xid) for gpu in sample.gpus] == [("lost", 79), ("ok", 31)]
    assert sample.note == "GPU 0 of 2 lost"


def test_throttling_shows_where_the_exporter_is_told_to_export_it() -> None:
    (sample,) = read(line("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", dcgm("n", 0), 0x44))
    assert (sample.gpus[0].state, sample.gpus[0].throttle) == ("throttled", ("power cap", "hardware thermal"))


def test_the_parts_of_a_split_gpu_are_told_and_the_power_is_of_the_whole() -> None:
    parts = [dcgm("n", 0, GPU_I_ID=str(part), GPU_I_PROFILE="1g.10gb") for part in (7, 9)]
    (sample,) = read("".join(
        line("DCGM_FI_DEV_FB_USED", part, 1000) + line("DCGM_FI_DEV_FB_FREE", part, 9000)
        + line("DCGM_FI_DEV_POWER_USAGE", part, 300) + line("DCGM_FI_PROF_GR_ENGINE_ACTIVE", part, 0.9)
        for part in parts
    ))  # fmt: skip
    (gpu,) = sample.gpus
    assert (gpu.util, gpu.mem_used_gb, gpu.power_w) == (None, None, 300.0)
    assert [(part.index, part.name) for part in gpu.mig] == [(7, "1g.10gb"), (9, "1g.10gb")]
    assert gpu.mig[0].mem_total_gb == pytest.approx(10.486, abs=1e-3)


def test_a_gpu_that_an_exporter_no_longer_tells_of_is_lost() -> None:
    pages = [dcgm_page("n", 8), dcgm_page("n", 7)]
    with serving(lambda path, body: pages.pop(0).encode()) as host:
        (sampler,) = samplers_of(f"http://{host}")
        look(sampler)
        (sample,) = look(sampler, NOW + 5)
        sampler.close()
    assert [gpu.state for gpu in sample.gpus] == ["ok"] * 7 + ["lost"]
    assert (sample.gpus[7].uuid, sample.note) == ("GPU-n-7", "GPU 7 of 8 lost")


def test_text_of_an_exporter_brings_no_escapes_to_the_terminal() -> None:
    (sample,) = read(line("DCGM_FI_DEV_GPU_UTIL", dcgm("n\x1b[2Jode", 0) | {"modelName": "\x1b]0;x\x07A"}, 5))
    assert (sample.host, sample.gpus[0].name) == ("node", "A")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (503, "answers 503 Service Unavailable"),
        (404, "there is no such page on it"),
        (200, "tells of no GPU"),
    ],
)
def test_a_page_that_cannot_be_read_is_one_line(answer: int, reason: str) -> None:
    with serving(lambda path, body: b"nothing\n" if answer == 200 else answer) as host:
        (sampler,) = samplers_of(f"http://me:secret@{host}/metrics")
        assert look(sampler) == []
        told = sampler.reason(NOW)
        sampler.close()
    assert reason in told
    assert "secret" not in told


def test_a_password_in_an_address_is_sent_and_not_shown() -> None:
    def answer(path: str, body: str) -> bytes | int:
        return dcgm_page("n", 1).encode()

    with serving(answer) as host:
        (sampler,) = samplers_of(f"http://me:secret@{host}/metrics")
        (sample,) = look(sampler)
        sampler.close()
    assert "secret" not in f"{sample} {sampler.who}"
    with pytest.raises(PlaceError) as refused:
        samplers_of("prom:http://me:secret@host:port")
    assert "secret" not in str(refused.value)


@pytest.fixture
def fleet() -> Iterator[tuple[LittlePrometheus, Sampler]]:
    """1,024 GPUs on 128 hosts, behind one Prometheus."""
    prometheus = LittlePrometheus(128, 8, NOW)
    with serving(prometheus.answer) as host:
        (sampler,) = samplers_of(f"prom:http://{host}", want_tensor=True)
        yield prometheus, sampler
        sampler.close()


def test_1024_gpus_come_from_one_query_for_each_figure(fleet: tuple[LittlePrometheus, Sampler]) -> None:
    prometheus, sampler = fleet
    samples = look(sampler)
    assert (len(samples), sum(len(sample.gpus) for sample in samples)) == (128, 1024)
    prometheus.asked.clear()
    (first, *_) = look(sampler, NOW + 5)
    names = [query.partition("(")[2] for query in prometheus.asked]
    assert len(prometheus.asked) == len(set(prometheus.asked)) == 13, names
    gpu = first.gpus[7]
    assert (first.host, first.backend, gpu.util, gpu.tensor_active) == (
        "node000",
        "prometheus/dcgm",
        7.0,
        38.0,
    )
    assert (gpu.uuid, gpu.name, gpu.power_w) == ("GPU-node000-7", "NVIDIA H100 80GB HBM3", 655.25)


def test_asking_for_the_latest_of_a_fleet_takes_no_time_of_the_screen(
    fleet: tuple[LittlePrometheus, Sampler],
) -> None:
    _, sampler = fleet
    look(sampler)
    began = perf_counter()
    for _ in range(10):
        sampler.latest(NOW + 1)
    assert (perf_counter() - began) / 10 < 0.01


def test_tensor_activity_is_not_asked_for_unless_it_is_wanted(
    fleet: tuple[LittlePrometheus, Sampler],
) -> None:
    prometheus, sampler = fleet
    sampler.want_tensor = False
    samples = look(sampler)
    assert {gpu.tensor_active for sample in samples for gpu in sample.gpus} == {None}
    assert not any(query.startswith("max") and "TENSOR" in query for query in prometheus.asked)


def test_an_exporter_that_prometheus_no_longer_hears_is_stale(
    fleet: tuple[LittlePrometheus, Sampler],
) -> None:
    prometheus, sampler = fleet
    prometheus.heard_at["node003"] = NOW - 150
    prometheus.heard_at["node004"] = NOW - 20
    samples = {sample.host: sample for sample in look(sampler)}
    silent, late = samples["node003"], samples["node004"]
    assert (silent.stale_s, silent.at) == (150.0, NOW - 150)
    assert silent.note == "stale 2 m: its exporter does not answer Prometheus"
    assert (late.stale_s, late.at, late.note) == (None, NOW - 20, "")
    assert sampler.reason(NOW) == "1 of 128 hosts are stale"


def test_the_clock_of_the_server_may_differ_from_ours() -> None:
    prometheus = LittlePrometheus(1, 1, NOW - 3600)
    with serving(prometheus.answer) as host:
        (sample,) = one_look(f"prom:http://{host}")
    assert (sample.at, sample.stale_s) == (NOW, None)


def test_matchers_narrow_a_shared_prometheus_down() -> None:
    prometheus = LittlePrometheus(4, 2, NOW)
    with serving(prometheus.answer) as host:
        samples = one_look(f'prom:http://{host}{{hostname="node002"}}')
    assert [sample.host for sample in samples] == ["node002"]


def test_labels_of_a_server_that_are_no_text_are_taken_as_text() -> None:
    def answer(path: str, body: str) -> bytes:
        labels = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "gpu": 3, "hostname": "a\u001b[2J", "modelName": ["x"]}
        return json.dumps({"data": {"result": [{"metric": labels, "value": [NOW, "55"]}]}}).encode()

    with serving(answer) as host:
        (sample,) = one_look(f"prom:http://{host}")
    assert (sample.host, sample.gpus[0].index, sample.gpus[0].util) == ("a", 3, 55.0)
    assert sample.at > 0


def test_a_prometheus_without_gpus_says_so() -> None:
    prometheus = LittlePrometheus(0, 0, NOW)
    with serving(prometheus.answer) as host:
        (sampler,) = samplers_of(f"prom:http://{host}")
        assert look(sampler) == []
        assert (
            sampler.reason(NOW)
            == f"Prometheus at {host} knows no GPU: neither dcgm-exporter's nor Ray's metrics"
        )
        sampler.close()


@pytest.mark.parametrize(
    "answer",
    [b"<html>", b"{}", b'{"data": {"result": [{"value": 3}]}}', b"[]",
     b'{"data": {"result": [{"value": [1, "2"], "metric": 3}]}}', b'{"data": {"result": 3}}'],
)  # fmt: skip
def test_what_is_no_prometheus_is_named(answer: bytes) -> None:
    with serving(lambda path, body: answer) as host:
        (sampler,) = samplers_of(f"prom:http://{host}")
        assert look(sampler) == []
        assert sampler.reason(NOW) == f"Prometheus at {host}: not an answer of Prometheus"
        sampler.close()


def test_the_nodes_of_a_ray_cluster_are_read_from_the_addresses_in_its_file(tmp_path: Path) -> None:
    with (
        serving({"/metrics": ray_page("10.0.0.1", 8)}) as one,
        serving({"/metrics": ray_page("10.0.0.2", 8, -1)}) as two,
    ):
        listed = tmp_path / "discovery.json"
        listed.write_text(json.dumps([{"labels": {"job": "ray"}, "targets": [one, two, "127.0.0.1:1"]}]))
        samples = one_look(f"ray:{listed}")
    first, second = sorted(samples, key=lambda sample: sample.host)
    assert (first.host, first.backend, len(first.gpus)) == ("10.0.0.1", "ray", 8)
    assert first.gpus[0].model_dump(exclude_defaults=True) == {
        "index": 0,
        "uuid": "GPU-10.0.0.1-0",
        "name": "NVIDIA H100 80GB HBM3",
        "util": 90.0,
        "mem_used_gb": pytest.approx(73.4003),
        "mem_total_gb": pytest.approx(83.8861),
        "power_w": 655.25,
    }
    assert second.gpus[0].util is None, "-1 is Ray's way of not knowing"


def test_a_node_of_a_ray_cluster_that_falls_silent_grows_stale_while_the_others_go_on(tmp_path: Path) -> None:
    listed = tmp_path / "discovery.json"
    with serving({"/metrics": ray_page("10.0.0.1", 1)}) as one:
        with serving({"/metrics": ray_page("10.0.0.2", 1)}) as two:
            listed.write_text(json.dumps([{"targets": [one, two]}]))
            (sampler,) = samplers_of(f"ray:{listed}")
            look(sampler)
        fresh, silent = sorted(look(sampler, NOW + 10), key=lambda sample: sample.host)
        sampler.close()
    assert (fresh.at, fresh.stale_s) == (NOW + 10, None)
    assert (silent.host, silent.at, silent.stale_s) == ("10.0.0.2", NOW, 10.0)


def test_the_dashboard_names_the_nodes_and_speaks_for_those_that_cannot_be_reached() -> None:
    gpu = {"index": 0, "name": "NVIDIA H100", "uuid": "GPU-1", "utilizationGpu": 97, "memoryUsed": 58174,
           "memoryTotal": 76293, "powerMw": 400000, "temperatureC": 55}  # fmt: skip
    summary = {
        "result": True,
        "data": {"summary": [{"hostname": "a", "ip": "10.0.0.9", "gpus": [gpu]}, {"ip": 3}]},
    }
    pages = {
        "/api/prometheus/sd": json.dumps([{"labels": {"job": "ray"}, "targets": ["127.0.0.1:1"]}]),
        "/nodes?view=summary": json.dumps(summary),
    }
    with serving(pages) as host:
        (sample,) = one_look(f"ray:http://{host}/")
    assert sample.host == "10.0.0.9"
    assert (sample.gpus[0].util, sample.gpus[0].power_w, sample.gpus[0].temp_c) == (97.0, 400.0, 55.0)
    assert sample.gpus[0].mem_total_gb == pytest.approx(79.999, abs=1e-3)


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', '[{"targets": 3}]', "[[]]"])
def test_a_broken_list_of_ray_addresses_is_one_line(tmp_path: Path, text: str) -> None:
    listed = tmp_path / "discovery.json"
    listed.write_text(text)
    (sampler,) = samplers_of(f"ray:{listed}")
    assert look(sampler) == []
    assert str(listed) in sampler.reason(NOW)
    sampler.close()


def test_where_no_ray_runs_one_line_says_so(tmp_path: Path) -> None:
    (sampler,) = samplers_of(f"ray:{tmp_path}/none.json")
    assert look(sampler) == []
    assert sampler.reason(NOW) == f"{tmp_path}/none.json: not there: is this the head of a running cluster?"
    sampler.close()


@pytest.mark.parametrize(
    "place",
    ["", "nonsense", "ftp://x", "http://", "http://host:port", "prom:", "prom:host:9090", "ray:http://",
     "local:1", "ssh://", "ssh://-oProxyCommand=x", "ssh://a,,b", "ssh://a b", "ssh://a/b"],
)  # fmt: skip
def test_an_address_that_means_nothing_is_refused(place: str) -> None:
    with pytest.raises(PlaceError) as refused:
        gpus_from([place])
    assert "\n" not in str(refused.value)


def test_an_engine_stands_beside_the_gpus() -> None:
    page = 'vllm:num_requests_running{engine="0",model_name="Qwen/Qwen3-8B"} 3\n'
    with serving({"/metrics": page}) as host:
        sampler = samplers_of(f"http://{host}")[0]
        sampler.order(NOW)
        assert sampler.wait(10)
        (told,) = sampler.latest(NOW)
        sampler.close()
    assert isinstance(told, Serving)
    assert (told.host, told.engine, told.model, told.running) == (host, "vllm", "Qwen/Qwen3-8B", 3.0)
