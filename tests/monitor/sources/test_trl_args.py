from rltop.models.run import ConfigValue
from rltop.monitor.sources.trl_args import completions_of, info_of, processes_of

ARGS: dict[str, ConfigValue] = {
    "per_device_train_batch_size": 4,
    "gradient_accumulation_steps": 2,
    "steps_per_generation": 2,
    "generation_batch_size": 64,
    "num_generations": 8,
    "max_completion_length": 512,
}


def test_processes_follow_from_the_completions_that_they_make_together() -> None:
    assert processes_of(ARGS) == 8
    info = info_of(ARGS)
    assert info.gpus == 8
    assert info.notes == ("8 training processes by generation_batch_size, a GPU each",)
    assert completions_of(ARGS) == 64


def test_a_server_that_generates_has_gpus_of_its_own() -> None:
    served = {**ARGS, "use_vllm": True, "vllm_mode": "server"}
    assert info_of(served).gpus is None
    assert completions_of(served) == 64
    assert info_of({**ARGS, "use_vllm": True, "vllm_mode": "colocate"}).gpus == 8


def test_one_generation_may_serve_several_steps() -> None:
    assert completions_of({**ARGS, "steps_per_generation": 8, "generation_batch_size": 256}) == 256
    assert completions_of({**ARGS, "gradient_accumulation_steps": 4}) == 128


def test_arguments_that_do_not_fit_together_say_nothing() -> None:
    for damaged in (
        {**ARGS, "generation_batch_size": 63},
        {**ARGS, "generation_batch_size": 2},
        {**ARGS, "generation_batch_size": None},
        {**ARGS, "steps_per_generation": 0},
        {},
    ):
        assert processes_of(damaged) is None
        assert completions_of(damaged) is None
        assert info_of(damaged).gpus is None


def test_the_model_is_where_its_weights_came_from() -> None:
    assert info_of({"_name_or_path": "org/base"}).model == "org/base"
    adapted: dict[str, ConfigValue] = {
        "peft_config.default.r": 16,
        "peft_config.default.base_model_name_or_path": "org/base",
    }
    info = info_of({**adapted, "_name_or_path": ""})
    assert (info.model, info.lora_rank) == ("org/base", 16)
