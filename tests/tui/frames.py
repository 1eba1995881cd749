"""Frames made by hand, shaped like the runs that rltop is for. Every figure is invented or computed here."""

import math
from array import array
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from rltop.models.alert import Alert, Severity
from rltop.models.event import Ended, LogLine, SourceStatus
from rltop.models.gpu import Gpu, GpuSample, GpuUse, PhaseUse, Serving
from rltop.models.health import Clip, Health, Length, Mfu
from rltop.models.money import Bill, Meter, PriceBookRef
from rltop.models.projection import FanPoint, FinalCost, Projection
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Eval, Step
from rltop.models.value import Quantiles
from rltop.monitor.frame import Frame, ReplayPosition
from rltop.monitor.history import History
from rltop.monitor.state import RunState

NOW = 1_767_000_000.0
CONSOLE = ("console", "runs/math-4b-grpo/train.log")


def verl(done: int = 35, budget: float | None = 150.0) -> Frame:
    """A self-hosted run whose responses grow: step 35 of 94."""
    history = History()
    usd_per_hour = 39.83
    spent, elapsed = array("d"), 300.0
    total = elapsed / 3600 * usd_per_hour
    for step in range(1, done + 1):
        grown = (step / 35) ** 2
        wobble = math.sin(step * 2.3) * 0.03
        seconds = 76 + 150 * grown + 9 * math.sin(step * 1.7)
        elapsed += seconds
        total += seconds / 3600 * usd_per_hour
        spent.append(total)
        history.write(
            Step(
                step=step,
                ended_at=NOW - 4200 + elapsed,
                duration_s=seconds,
                phases={
                    "generate": seconds * 0.22,
                    "update": seconds * 0.62,
                    "old_logprob": seconds * 0.09,
                    "ref": seconds * 0.06,
                    "weight_sync": seconds * 0.01,
                },
                response_length_mean=(549 + 790 * grown) * (1 + wobble),
                response_length_max=2048,
                clip_ratio=max(0.004, 0.44 * grown**1.6 + wobble / 3),
                reward_mean=0.52 + 0.27 * (1 - math.exp(-step / 9)) + wobble,
                kl=0.0009 * step + abs(wobble) / 90,
                entropy=0.34 - 0.004 * step + wobble / 2,
                grad_norm=0.11 + abs(wobble) * 2,
                mfu_logged=0.0185,
                mfu_whole_step=0.0112,
                tokens_per_s=9_400 - 2_600 * grown,
                raw={
                    "actor/entropy": 0.34 - 0.004 * step,
                    "actor/grad_norm": 0.11 + abs(wobble) * 2,
                    "critic/rewards/mean": 0.52 + 0.27 * (1 - math.exp(-step / 9)),
                    "response_length/mean": 549 + 790 * grown,
                    "response_length/clip_ratio": 0.44 * grown**1.6,
                    "perf/mfu/actor": 0.0185,
                    "timing_s/step": seconds,
                },
            )
        )
    fan: list[FanPoint] = []
    for step in range(done + 1, 95):
        ahead = step - done
        fan.append(
            FanPoint(
                step=step,
                cost=Quantiles(
                    p10=total + 1.05 * ahead,
                    p50=total + 2.55 * ahead + 0.011 * ahead**2,
                    p90=total + 3.2 * ahead + 0.024 * ahead**2,
                ),
                length=Quantiles(
                    p10=1339 + 270 * (1 - math.exp(-ahead / 14)),
                    p50=1339 + 620 * (1 - math.exp(-ahead / 16)),
                    p90=1339 + 705 * (1 - math.exp(-ahead / 9)),
                ),
            )
        )
    last = fan[-1].cost
    assert last is not None
    info = RunInfo(
        framework="verl",
        name="math-4b-grpo",
        model="Qwen/Qwen3-4B-Instruct",
        platform="self-hosted",
        gpus=8,
        gpu_type="B200",
        total_steps=94,
        first_step=1,
        max_tokens=2048,
    )
    state = RunState(
        info=info,
        history=history,
        revision=done,
        closed=done,
        sources={CONSOLE: SourceStatus(source=CONSOLE[0], path=CONSOLE[1], lines=5210, modified_at=NOW - 20)},
        clip_reliable=True,
        last_event_at=NOW - 60,
    )
    return Frame(
        now=NOW,
        state=state,
        info=info,
        settings=Settings(budget_usd=budget),
        status="running",
        elapsed_s=elapsed,
        bill=Bill(
            basis="gpu-hours",
            spent_usd=total,
            meters=(Meter(name="gpu", hours=elapsed / 3600 * 8, usd=elapsed / 3600 * usd_per_hour),),
            price_book=PriceBookRef(date="2026-01-15", source="made up"),
            last_step_usd=2.62,
        ),
        spent_usd=spent,
        at_end=array("d", [210.0] * done),
        projection=Projection(
            final_usd=FinalCost(p10=last.p10, p50=last.p50, p90=last.p90, at_cap=310.0),
            remaining_s=Quantiles(p10=10_740, p50=13_860, p90=16_980),
            response_length_at_end=Quantiles(p10=1600, p50=1950, p90=2040),
            budget_usd=budget,
            p_over_budget=None if budget is None else 0.87,
            budget_breaks_at_step=None if budget is None else 68,
            fan=tuple(fan),
        ),
        health=Health(
            response_length=Length(first=549, last=1376, growth=2.5),
            clip_ratio=Clip(last=0.44, reliable=True),
            mfu=Mfu(logged=0.0185, whole_step=0.0112),
            tokens_per_s=6_800,
            reward=0.79,
            kl=0.0319,
            entropy=0.201,
            grad_norm=0.153,
        ),
        alerts=(
            alert(
                "length-growth",
                "critical",
                27,
                "responses are ×2.5 as long as at the start and still growing",
                "+$98 by the end at this rate: add a length term, or lower the cap",
            ),
            alert(
                "throughput-drop",
                "warning",
                27,
                "throughput is 32 % below steps 3–12",
                "longer responses fill the batch: raise the micro-batch size",
            ),
            alert(
                "clip-ratio",
                "critical",
                33,
                "44 % of responses are cut at 2 048 tokens",
                "raise the cap or add a length term",
            ),
        ),
        step_usd=array("d", [spent[0], *(b - a for a, b in pairwise(spent))]),
    )


def tinker(done: int = 41) -> Frame:
    """A run billed by tokens that stays level: step 41 of 59, counted from 0."""
    history = History()
    spent, total = array("d"), 0.0
    for step in range(done):
        total += 0.2135 + 0.004 * math.sin(step)
        spent.append(total)
        history.write(
            Step(
                step=step,
                ended_at=NOW - 33.5 * (done - step),
                duration_s=33.5 + math.sin(step * 3),
                sampled_tokens=327_000,
                response_length_mean=320 + 6 * math.sin(step * 1.3),
                clip_ratio=0.0,
                reward_mean=0.93 - 0.25 * math.exp(-step / 6),
                kl=0.0004 + 0.00001 * step,
                entropy=0.22 - 0.001 * step,
                raw={"env/all/reward/total": 0.93, "optim/lr": 4.9e-4, "time/total": 33.5},
            )
        )
    fan = tuple(
        FanPoint(
            step=step,
            cost=Quantiles(
                p10=total + 0.211 * (step - done + 1),
                p50=total + 0.2145 * (step - done + 1),
                p90=total + 0.22 * (step - done + 1),
            ),
            length=Quantiles(p10=312, p50=321, p90=331),
        )
        for step in range(done, 59)
    )
    info = RunInfo(
        framework="tinker",
        name="gsm8k-tinker",
        model="Qwen/Qwen3-4B-Instruct",
        platform="tinker",
        total_steps=59,
        first_step=0,
        max_tokens=1024,
    )
    return Frame(
        now=NOW,
        state=RunState(info=info, history=history, revision=done, closed=done, last_event_at=NOW - 10),
        info=info,
        settings=Settings(),
        status="running",
        elapsed_s=33.5 * done,
        bill=Bill(
            basis="metered",
            spent_usd=total,
            meters=(
                Meter(name="sample", tokens=13.4e6, usd=2.95),
                Meter(name="train", tokens=20.8e6, usd=4.58),
                Meter(name="prefill", tokens=7.4e6, usd=0.52),
                Meter(name="eval_sample", tokens=3.6e6, usd=0.79),
                Meter(name="eval_prefill", tokens=1.9e6, usd=0.13),
            ),
            price_book=PriceBookRef(date="2026-01-15", source="made up"),
            last_step_usd=0.21,
        ),
        spent_usd=spent,
        at_end=array("d", [12.9] * done),
        projection=Projection(
            final_usd=FinalCost(p10=12.72, p50=12.93, p90=13.21, at_cap=24.4),
            remaining_s=Quantiles(p10=590, p50=610, p90=640),
            response_length_at_end=Quantiles(p10=312, p50=321, p90=331),
            fan=fan,
        ),
        health=Health(
            response_length=Length(first=318, last=321, growth=1.01),
            clip_ratio=Clip(last=0.0, reliable=True),
            reward=0.93,
            kl=0.0008,
            entropy=0.181,
        ),
        alerts=(),
        step_usd=array("d", [spent[0], *(b - a for a, b in pairwise(spent))]),
    )


def empty() -> Frame:
    """A run whose log is not there yet."""
    path = "runs/gsm8k/metrics.jsonl"
    status = SourceStatus(
        source="tinker-metrics", path=path, state="waiting", reason="the folder is there, the file is not"
    )
    return Frame(
        now=NOW,
        state=RunState(sources={("tinker-metrics", path): status}),
        info=RunInfo(),
        settings=Settings(),
        status="unknown",
        elapsed_s=None,
        bill=Bill(),
        spent_usd=array("d"),
        at_end=array("d"),
        projection=Projection(),
        health=Health(),
        alerts=(),
    )


def unpriced() -> Frame:
    """A run with no price, no total and little told: everything that is missing is unknown."""
    history = History()
    for step in range(1, 9):
        history.write(Step(step=step, reward_mean=0.4 + step / 50))
    info = RunInfo(framework="unknown", name="custom-loop")
    return Frame(
        now=NOW,
        state=RunState(info=info, history=history, revision=8, closed=8),
        info=info,
        settings=Settings(),
        status="running",
        elapsed_s=None,
        bill=Bill(notes=("no price: the log names no model; give --model or --price",)),
        spent_usd=array("d", [math.nan] * 8),
        at_end=array("d", [math.nan] * 8),
        projection=Projection(notes=("total steps unknown: --total-steps N",)),
        health=Health(reward=0.56),
        alerts=(),
        step_usd=array("d", [math.nan] * 8),
    )


def with_alerts(count: int = 12) -> Frame:
    """Many alerts at once, some of them over."""
    kinds: tuple[Severity, ...] = ("critical", "warning", "info")
    alerts = tuple(
        alert(
            f"rule-{n}",
            kinds[n % 3],
            10 + n,
            f"finding {n} is further from its level than it has been",
            f"look at setting {n} and think about lowering it a little",
            cleared_step=20 + n if n % 4 == 3 else None,
        )
        for n in range(count)
    )
    return replace(verl(), alerts=alerts)


def with_gpus(count: int = 8, note: str = "") -> Frame:
    """A run with its GPUs in view; the last one says nothing but its name."""
    gpus = tuple(
        Gpu(
            index=index,
            name="NVIDIA B200",
            util=88.0 - 7 * (index % 3),
            mem_used_gb=142.3 + index,
            mem_total_gb=179.1,
            power_w=612.0 + 9 * index,
            temp_c=58 + index,
            tensor_active=21.0 + index,
        )
        if index < count - 1
        else Gpu(index=index, name="NVIDIA B200")
        for index in range(count)
    )
    frame = verl()
    state = replace(
        frame.state, gpus={"node-0": GpuSample(at=NOW, host="node-0", backend="nvml", gpus=gpus, note=note)}
    )
    return replace(frame, state=state)


def with_many_gpus(hosts: int, each: int = 8) -> Frame:
    """A run on many hosts: one GPU is lost, one is hot, a host lags, and one tells nothing but names."""
    samples: dict[str, GpuSample] = {}
    for number in range(hosts):
        host = f"node-{number:03}.cluster"
        lags, mute = number == hosts // 3, number == hosts - 1
        gpus = [
            Gpu(
                index=index,
                name="NVIDIA H100 80GB HBM3",
                util=None if mute else (17.0 if lags else 99.0) - (number * 7 + index * 5) % 23 / 2,
                tensor_active=None if mute else (9.0 if lags else 44.0) - (number * 3 + index * 11) % 9,
                mem_used_gb=None if mute else 60.0 + (number + index * 3) % 17,
                mem_total_gb=None if mute else 80.0,
                power_w=None if mute else 640.0 - 3 * index,
                power_limit_w=700.0,
                temp_c=None if mute else 55.0 + (number + index) % 20,
            )
            for index in range(each)
        ]
        if number == hosts // 2:
            gpus[3] = Gpu(index=3, state="lost", xid=79, xid_at=NOW - 90)
            gpus[5] = gpus[5].model_copy(update={"state": "throttled", "throttle": ("hardware thermal",)})
        samples[host] = GpuSample(at=NOW - 14, host=host, backend="dcgm", gpus=tuple(gpus))
    frame = verl()
    use = GpuUse(
        gpus=hosts * each,
        watched_gpu_hours=1.17 * hosts * each,
        idle_gpu_hours=0.31 * hosts * each,
        idle_gpu_hours_at_end=Quantiles(
            p10=1.2 * hosts * each, p50=1.6 * hosts * each, p90=2.1 * hosts * each
        ),
        idle_usd=1.54 * hosts * each,
        idle_usd_at_end=Quantiles(p10=6.0 * hosts * each, p50=8.0 * hosts * each, p90=10.5 * hosts * each),
        energy_kwh=0.7 * hosts * each,
        tensor_share=0.38,
        mfu=0.29,
        phase_step=35,
        phases=(
            PhaseUse(name="generate", seconds=52.0, util=96.0, tensor_active=6.0),
            PhaseUse(name="update", seconds=147.0, util=99.0, tensor_active=61.0),
        ),
    )
    serving = Serving(
        at=NOW,
        host="node-000:8000",
        engine="vllm",
        running=211,
        waiting=38,
        kv_cache_use=0.83,
        prefix_hit_rate=0.37,
        generation_tokens_per_s=41_200,
    )
    state = replace(frame.state, gpus=samples, serving={serving.host: serving})
    return replace(frame, state=state, gpu_use=use)


def replayed(paused: bool = False) -> Frame:
    """A replay half-way, with the marks of the alerts met."""
    position = ReplayPosition(
        index=140,
        total=376,
        step=35,
        speed=60.0,
        paused=paused,
        at=NOW,
        marks=((0.29, "warning"), (0.35, "critical")),
    )
    return replace(verl(), replay=position)


def crashed() -> Frame:
    """The growing run after its cluster went away."""
    frame = verl()
    state = replace(frame.state, ended=Ended(status="crashed", at=NOW, message="the cluster shut down"))
    return replace(frame, status="crashed", state=state)


def alert(
    rule: str, severity: Severity, step: int, message: str, advice: str, cleared_step: int | None = None
) -> Alert:
    return Alert(
        rule=rule,
        severity=severity,
        step=step,
        cleared_step=cleared_step,
        value=0.44,
        threshold=0.25,
        message=message,
        advice=advice,
    )


def with_logs() -> Frame:
    """A run whose log has something to say."""
    said: tuple[tuple[Literal["info", "warning", "error"], str], ...] = (
        ("info", "saved a checkpoint at step 10 to checkpoints/step_10"),
        ("warning", "rollout 17 timed out after 120 s, retry 1 of 3"),
        ("warning", "rollout 17 timed out after 120 s, retry 2 of 3"),
        ("info", "saved a checkpoint at step 20 to checkpoints/step_20"),
        (
            "error",
            "sampling failed: 503 Service Unavailable; the provider has paused new requests, retry in 30 s",
        ),
        ("info", "saved a checkpoint at step 30 to checkpoints/step_30"),
    )
    lines = tuple(LogLine(text=text, level=level, at=NOW + 60.0 * n) for n, (level, text) in enumerate(said))
    run = verl()
    return replace(run, state=replace(run.state, logs=lines))


def configured() -> Frame:
    """A run that has printed its configuration, some of which the user knows better."""
    config: dict[str, str | int | float | bool | None] = {
        "actor_rollout_ref.actor.optim.lr": 1e-6,
        "actor_rollout_ref.actor.ppo_mini_batch_size": 64,
        "actor_rollout_ref.actor.use_kl_loss": True,
        "actor_rollout_ref.model.lora_rank": 32,
        "actor_rollout_ref.rollout.n": 8,
        "data.max_response_length": 2048,
        "data.train_batch_size": 128,
        "trainer.total_epochs": 1,
    }
    run = verl()
    known = {
        "group_size": 8,
        "groups": 128,
        "lora_rank": 32,
        "eval_every": 5,
        "save_every": 20,
        "config": config,
    }
    return replace(
        run,
        info=run.info.model_copy(update=known),
        settings=run.settings.model_copy(update={"gpu_type": "B200", "usd_per_gpu_hour": 4.98}),
    )


def with_evals() -> Frame:
    """A run whose evaluations tell two shares and a length."""
    frame = verl()
    for step in range(0, 36, 5):
        scores = {
            "accuracy": 0.42 + 0.3 * (1 - math.exp(-step / 12)),
            "pass@8": 0.61 + 0.2 * (1 - math.exp(-step / 10)),
            "length": 610 + 290 * (step / 35) ** 2,
        }
        frame.state.history.evals.append(Eval(step=step, name="math500", scores=scores))
    return frame
