"""What the printed configuration, the command and the Hydra folder tell of a run."""

import io
import pprint
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rltop.models.event import RunInfo
from rltop.monitor.sources.verl import config, hydra, overrides
from rltop.monitor.sources.verl.dump import Dump
from rltop.monitor.sources.verl.hydra import HydraSource
from rltop.monitor.state import RunState

Fold = Callable[..., RunState]

DUMP = """\
{'actor_rollout_ref': {'actor': {'clip_ratio': 0.2,
                                 'optim': {'lr': 1e-06,
                                           'total_training_steps': -1},
                                 'use_kl_loss': True},
                       'model': {'enable_gradient_checkpointing': True,
                                 'lora_rank': 16,
                                 'path': 'Org/Model-7B',
                                 'target_modules': ['q_proj',
                                                    'k_proj']},
                       'rollout': {'max_model_len': None,
                                   'multi_turn': {'enable': False},
                                   'n': 4,
                                   'val_kwargs': {'n': 1, 'top_p': inf}}},
 'algorithm': {'adv_estimator': 'grpo',
               'kl_ctrl': {'kl_coef': 0.001, 'type': 'fixed'},
               'use_kl_in_reward': False},
 'critic': {'model': {'path': '~/other/model'}},
 'data': {'max_prompt_length': 512,
          'max_response_length': 2048,
          'train_batch_size': 128,
          'train_files': '/data/{odd}, name.parquet'},
 'reward_model': {'enable': False, 'n_gpus_per_node': 0, 'nnodes': 0},
 'trainer': {'experiment_name': 'exp',
             'logger': ['console', 'wandb'],
             'n_gpus_per_node': 8,
             'nnodes': 2,
             'project_name': 'proj',
             'save_freq': 20,
             'test_freq': 5,
             'total_epochs': 3,
             'total_training_steps': None,
             'val_before_train': True}}"""


def prefixed(text: str, by: str = "TaskRunner pid=7") -> str:
    return "\n".join(f"({by}) {line}" for line in text.split("\n"))


def check(info: RunInfo) -> None:
    assert (info.model, info.name, info.algorithm) == ("Org/Model-7B", "proj/exp", "rl")
    assert (info.gpus, info.groups, info.group_size) == (16, 128, 4)
    assert (info.max_tokens, info.max_prompt_tokens, info.lora_rank) == (2048, 512, 16)
    assert (info.eval_every, info.save_every, info.eval_at_start, info.eval_at_end) == (5, 20, True, True)
    assert (info.reference_pass, info.activation_checkpointing) == (True, True)


def test_a_printed_configuration_tells_the_run(fold: Fold) -> None:
    info = fold(prefixed(DUMP)).info
    check(info)
    assert info.total_steps is None
    assert info.config["data.train_files"] == "/data/{odd}, name.parquet"
    assert info.config["algorithm.kl_ctrl.type"] == "fixed"
    assert info.config["actor_rollout_ref.rollout.val_kwargs.top_p"] == float("inf")


def test_an_unprefixed_configuration_is_read_too(fold: Fold) -> None:
    check(fold(DUMP).info)


def test_foreign_lines_inside_the_configuration_do_no_harm(fold: Fold) -> None:
    lines = prefixed(DUMP).split("\n")
    for at in range(len(lines) - 1, 0, -2):
        lines.insert(at, "(WorkerDict pid=9)   warnings.warn('n': 3)")
        lines.insert(at, "(TaskRunner pid=7) No module named 'some._version'")
        lines.insert(at, "(TaskRunner pid=7)   from some.version import __version__")
        lines.insert(at, "")
    lines[5] += "(TaskRunner pid=7) /usr/lib/x.py:8: RuntimeWarning: glued to the line"
    check(fold("\n".join(lines)).info)


def test_another_actor_s_dict_does_not_get_into_the_configuration(fold: Fold) -> None:
    lines = prefixed(DUMP).split("\n")
    lines.insert(6, "(WorkerDict pid=9)                                  'path': 'wrong/model',")
    assert fold("\n".join(lines)).info.model == "Org/Model-7B"


@pytest.mark.parametrize("kept", range(1, 33))
def test_a_configuration_that_breaks_off_tells_what_it_had(fold: Fold, kept: int) -> None:
    whole = fold(prefixed(DUMP)).info.config
    part = fold("\n".join(prefixed(DUMP).split("\n")[:kept])).info.config
    assert part.items() <= whole.items()
    assert part


def test_a_lost_line_shifts_no_other_key() -> None:
    whole = _dump(DUMP.split("\n"))
    for lost in range(1, len(DUMP.split("\n"))):
        lines = DUMP.split("\n")
        gone = lines.pop(lost)
        if "{" in gone:
            continue  # without its parent a key cannot be placed
        assert _dump(lines).items() <= whole.items(), gone


def test_a_dump_cut_wherever_ray_flushed_it_reads_the_same(fold: Fold) -> None:
    settings: dict[str, object] = {
        "actor_rollout_ref": {
            "actor": {"optim": {"lr": 1e-06, "betas": [0.9, 0.999]}, "strategy": "fsdp"},
            "model": {"lora_rank": 0, "path": "Org/Model-7B"},
            "rollout": {"engine_kwargs": {"vllm": {}}, "max_model_len": None, "n": 8, "top_p": 1.0},
        },
        "data": {"max_response_length": 1024, "train_files": ["/data/a.parquet", "/data/b.parquet"]},
        "trainer": {"experiment_name": "first", "n_gpus_per_node": 4, "nnodes": 2, "val_only": False},
    }
    written = _Pieces()
    pprint.pprint(settings, stream=written)
    pieces = written.pieces
    whole = _dump("".join(pieces).split("\n"))
    assert whole["trainer.nnodes"] == 2
    for cut in range(12, len(pieces)):
        before, after = "".join(pieces[:cut]), "".join(pieces[cut:])
        if before.endswith("\n"):
            continue  # a line ended there anyway
        told = before + "\nWARNING:2026-01-02 03:04:05,678:from another library\n" + after
        assert _dump(told.split("\n")) == whole, repr(before[-40:])
        text = "\n".join(f"(TaskRunner pid=7) {line}" for line in told.rstrip("\n").split("\n"))
        assert fold(text).info.gpus == 8, repr(before[-40:])


class _Pieces(io.StringIO):
    """What pprint writes, piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def write(self, text: str) -> int:
        self.pieces.append(text)
        return len(text)


def _dump(lines: Sequence[str]) -> dict[str, config.ConfigValue]:
    dump = Dump("")
    for line in lines:
        dump.take(line)
    return dump.flat


def test_total_steps_come_from_the_count_before_the_plan(fold: Fold) -> None:
    text = prefixed(DUMP) + "\n(TaskRunner pid=7) Size of train dataloader: 29, Size of val dataloader: 1"
    assert fold(text).info.total_steps == 87
    assert fold(text + "\n(TaskRunner pid=7) Total training steps: 60").info.total_steps == 60
    assert fold(text + "\nINFO:2026-01-02 03:04:05,678:Total training steps: 61").info.total_steps == 61


@pytest.mark.parametrize(
    ("more", "gpus"),
    [
        ({}, 16),
        ({"rollout.nnodes": 1, "rollout.n_gpus_per_node": 8}, 24),
        ({"actor_rollout_ref.rollout.nnodes": 0, "actor_rollout_ref.rollout.n_gpus_per_node": 8}, 16),
        ({"actor_rollout_ref.rollout.nnodes": 1, "actor_rollout_ref.rollout.n_gpus_per_node": 4}, 20),
        (
            {
                "reward_model.enable_resource_pool": True,
                "reward_model.nnodes": 1,
                "reward_model.n_gpus_per_node": 2,
            },
            18,
        ),
    ],
)
def test_gpus_are_those_of_all_pools(more: dict[str, config.ConfigValue], gpus: int) -> None:
    assert config.info_of({"trainer.n_gpus_per_node": 8, "trainer.nnodes": 2, **more}).gpus == gpus


def test_what_a_configuration_does_not_say_stays_unknown() -> None:
    info = config.info_of({"data.train_batch_size": 32})
    assert (info.gpus, info.model, info.algorithm, info.lora_rank) == (None, None, None, None)
    assert (info.reference_pass, info.eval_at_end, info.name) == (None, None, None)


def test_an_echoed_command_tells_the_run(fold: Fold) -> None:
    info = fold(
        "+ python3 -m verl.trainer.main_ppo algorithm.adv_estimator=gae data.train_batch_size=64 "
        "'data.train_files=[\"/a b.parquet\"]' actor_rollout_ref.model.path=$MODEL "
        "+trainer.val_before_train=False trainer.n_gpus_per_node=4 trainer.nnodes=1\n"
    ).info
    assert (info.algorithm, info.groups, info.gpus, info.model) == ("ppo", 64, 4, None)
    assert info.eval_at_start is False


def test_a_command_over_several_lines_tells_the_run(fold: Fold) -> None:
    info = fold(
        "python3 -m verl.trainer.main_ppo \\\n    data.train_batch_size=64 \\\n"
        "    actor_rollout_ref.model.path=Org/M \\\n    trainer.nnodes=1 $@\nprose a.b=7\n"
    ).info
    assert (info.groups, info.model) == (64, "Org/M")
    assert "a.b" not in info.config


def test_overrides_repeated_after_a_crash_tell_the_run() -> None:
    read = overrides.from_list("['a.b=1', 'c.d=x y', \"e.f=['q']\", '++g.h=null', 'i.j=1e-6']")
    assert read == {"a.b": 1, "c.d": "x y", "g.h": None, "i.j": 1e-6}


def test_the_printed_configuration_beats_the_repeated_overrides(fold: Fold) -> None:
    text = prefixed(DUMP) + "\nError executing job with overrides: ['data.train_batch_size=999']\n"
    assert fold(text).info.groups == 128


YAML = """\
data:
  max_response_length: 256
  train_batch_size: 32
  files:
  - a: 1
  - b
actor_rollout_ref:
  model:
    path: Org/Small   # a remark
    'lora_rank': 0
  rollout:
    response_length: ${data.max_response_length}
    top: ${oc.select:a.b,0}
    'n': 5
trainer:
  nnodes: 1
  n_gpus_per_node: 4
  default_local_dir: checkpoints/${trainer.project_name}
  logger: [console]
  project_name: "p: q"
  note: null
"""


def test_the_hydra_folder_tells_what_was_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / ".hydra"
    folder.mkdir()
    (folder / "config.yaml").write_text(YAML.replace("   # a remark", ""))
    (folder / "overrides.yaml").write_text("- data.train_batch_size=48\n- trainer.logger=[console]\n")
    events = HydraSource(folder).poll(0.0)
    info = RunInfo()
    for event in events:
        if isinstance(event, RunInfo):
            info = info.merged(event)
    assert (info.framework, info.model, info.gpus, info.groups) == ("verl", "Org/Small", 4, 48)
    assert (info.group_size, info.max_tokens, info.lora_rank) == (5, 256, 0)
    assert info.config["actor_rollout_ref.rollout.response_length"] == 256
    assert info.config["trainer.project_name"] == "p: q"
    assert "trainer.default_local_dir" not in info.config
    assert "actor_rollout_ref.rollout.top" not in info.config


def test_the_hydra_folder_is_told_once_and_waited_for(tmp_path: Path) -> None:
    source = HydraSource(tmp_path)
    assert source.poll(0.0) == []
    (tmp_path / "config.yaml").write_text("data:\n  train_batch_size: 3\n")
    assert source.poll(1.0)
    assert source.poll(2.0) == []


def test_references_that_go_in_circles_are_not_known() -> None:
    assert hydra.resolved({"a.x": "${b.y}", "b.y": "${a.x}", "c.z": 1}) == {"c.z": 1}


def test_the_gpu_is_named_only_where_the_log_names_it(fold: Fold) -> None:
    assert fold("{'GPU': 8.0, 'accelerator_type:B200': 1.0} (TaskRunner pid=1)").info.gpu_type == "B200"
    table = "|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |"
    assert fold(table).info.gpu_type == "A100-SXM4-80GB"
    assert fold("device NVIDIA GeForce RTX 4090, 24 GB").info.gpu_type == "GeForce RTX 4090"
    assert fold("NVIDIA CUDA 12.4 runtime, NVIDIA driver 550").info.gpu_type is None


def test_ranks_of_a_checkpoint_tell_the_gpus_where_nothing_else_does(fold: Fold) -> None:
    info = fold("[Rank 0] Saved model to /x/global_step_5/model_world_size_4_rank_0.pt").info
    assert info.gpus == 4
    assert any("4 GPUs" in note for note in info.notes)
