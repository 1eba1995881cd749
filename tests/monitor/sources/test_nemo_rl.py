"""What NeMo-RL's console tells beside its steps: configuration, clock, epochs, evaluations, algorithm."""

from collections.abc import Iterable
from datetime import datetime

from rltop.models.event import Event, Restart
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from rltop.monitor.source import Line
from rltop.monitor.sources.nemo_rl import NemoRlParser

CONFIG = """\
Final config:
{'checkpointing': {'checkpoint_dir': 'results/first-run',
                   'enabled': True,
                   'save_period': 10},
 'cluster': {'gpus_per_node': 8, 'num_nodes': 2},
 'data': {'max_input_seq_length': 512},
 'grpo': {'max_num_epochs': 2,
          'max_num_steps': 100,
          'num_generations_per_prompt': 4,
          'num_prompts_per_step': 8,
          'val_at_start': False,
          'val_period': 5},
 'logger': {'wandb': {'name': 'unused'}, 'wandb_enabled': False},
 'policy': {'generation': {'max_new_tokens': 1024},
            'model_name': 'Org/Model-1B'}}
"""


def head(step: int, total: int) -> str:
    return f"{'=' * 25} Step {step}/{total} {'=' * 25}"


def block(step: int, total: int, results: str = "Avg Reward: 0.5") -> list[str]:
    return [
        head(step, total),
        "📊 Training Results:",
        "  • Loss: 0.0250",
        f"  • {results}",
        "  • Mean Generation Length: 200.0000",
        "⏱️  Timing:",
        "  • Total step time: 40.00s",
        "🔍 Performance Metrics:",
        "    - E2E (Tokens/sec/gpu): 20.00",
        "    - E2E (Tokens/sec): 320.00",
        "",
    ]


def events_of(lines: Iterable[str]) -> list[Event]:
    parser = NemoRlParser()
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, n))]
    return [*events, *parser.flush()]


def info_of(events: Iterable[Event]) -> RunInfo:
    info = RunInfo()
    for event in events:
        if isinstance(event, RunInfo):
            info = info.merged(event)
    return info


def test_the_printed_configuration_names_the_run() -> None:
    events = events_of([*CONFIG.splitlines(), *block(1, 100)])
    info = info_of(events)
    assert (info.name, info.model, info.algorithm) == ("first-run", "Org/Model-1B", "rl")
    assert (info.gpus, info.max_tokens, info.max_prompt_tokens) == (16, 1024, 512)
    assert (info.groups, info.group_size, info.eval_every, info.save_every) == (8, 4, 5, 10)
    assert info.config["policy.generation.max_new_tokens"] == 1024
    (step,) = [event for event in events if isinstance(event, Step)]
    assert (step.episodes, step.sampled_tokens, step.prefill_tokens) == (32, 6400, 320 * 40 - 6400)


def test_the_samples_of_a_step_are_taken_where_the_log_counts_them() -> None:
    lines = block(1, 100)
    lines.insert(1, "▶ Generating responses for batch of size 16...")
    (step,) = [event for event in events_of(lines) if isinstance(event, Step)]
    assert (step.episodes, step.sampled_tokens) == (16, 3200)


def test_times_without_a_year_are_read_after_one_with_it() -> None:
    told = "2026-02-26 03:54:44,244\tINFO job_manager.py:531 -- Runtime env is setting up."
    lines = [
        told,
        *block(1, 9),
        "(VllmGenerationWorker pid=7) INFO 02-26 03:57:45 [block_pool.py:390] reset",
        head(2, 9),
        "(Worker pid=8) [rank7]:W0226 03:59:05.500000 592348 /site/_random.py",
        *block(2, 9)[1:],
    ]
    ends = [event.ended_at for event in events_of(lines) if isinstance(event, Step)]
    assert ends[-1] == datetime(2026, 2, 26, 3, 59, 5).timestamp() + 0.5
    without = [event.ended_at for event in events_of(lines[1:]) if isinstance(event, Step)]
    assert without[-1] is None, "a year that nothing tells"


def test_steps_counted_anew_in_each_epoch_go_on() -> None:
    lines = [f"{'=' * 25} Epoch 1/2 {'=' * 25}", *block(1, 2), *block(2, 2)]
    lines += [f"{'=' * 25} Epoch 2/2 {'=' * 25}", *block(1, 2), *block(2, 2)]
    events = events_of([*CONFIG.splitlines(), *lines])
    assert sorted({event.step for event in events if isinstance(event, Step)}) == [1, 2, 3, 4]
    assert not [event for event in events if isinstance(event, Restart)]
    assert info_of(events).total_steps == 4


def test_validation_is_an_evaluation_with_its_time_and_length() -> None:
    lines = [
        "📊 Validation Results:",
        "    • Accuracy: 0.2500",
        "    • Average response length: 310.5 tokens",
        "    • Samples processed: 256",
        "",
        "  ⏱️  Validation Timing:",
        "    • Total validation time: 12.50s",
    ]
    events = events_of([*lines, *block(1, 9)[:1], *lines, *block(1, 9)[1:]])
    evals = [event for event in events if isinstance(event, Eval)]
    assert [(e.step, e.duration_s, e.response_length_mean) for e in evals] == [
        (0, 12.5, 310.5),
        (1, 12.5, 310.5),
    ]
    assert evals[1].scores["Accuracy"] == 0.25
    (step,) = {event.step for event in events if isinstance(event, Step)}
    assert step == 1


def test_a_preference_run_is_told_by_its_results() -> None:
    lines = [
        head(1, 9),
        "📊 Validation Results for `hh` set:",
        "    • Validation loss: 0.6000",
        "  ⏱️  Validation Timing for `hh` set:",
        "    • Total validation time: 2.00s",
        "📊 Training Results:",
        "  • loss: 0.6931",
        "  • accuracy: 0.5000",
        "  • rewards_chosen_mean: 0.0100",
        "⏱️  Timing:",
        "  • Total step time: 4.00s",
    ]
    events = events_of(lines)
    assert info_of(events).algorithm == "dpo"
    (step,) = [event for event in events if isinstance(event, Step)]
    assert (step.loss, step.duration_s) == (0.6931, 4)
    assert [e.name for e in events if isinstance(e, Eval)] == ["hh"]
    assert info_of(events_of([*lines[:1], *lines[5:6], "  • Loss: 1.5", *lines[9:]])).algorithm == "sft"
