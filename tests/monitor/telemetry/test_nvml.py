"""Local GPUs: the real pynvml on a driver that does what real drivers do on bad days."""

from collections.abc import Callable
from typing import Any

import pytest

Play = Callable[..., list[dict[str, Any]]]
MINUTE = "wait:60"


def states(told: dict[str, Any]) -> list[str]:
    return [gpu["state"] for gpu in told["gpus"]]


def known(gpu: dict[str, Any]) -> dict[str, Any]:
    """What is known of a GPU."""
    return {name: value for name, value in gpu.items() if value not in (None, (), [])}


def test_eight_gpus_are_read_in_our_units(play: Play) -> None:
    (told,) = play("3.util=97", "3.power=703500", "3.temp=61", "look")
    assert (told["backend"], told["host"], told["reason"], len(told["gpus"])) == ("nvml", "node-0", "", 8)
    assert told["at"] == told["now"]
    assert known(told["gpus"][3]) == {
        "index": 3,
        "uuid": "GPU-fake-3",
        "name": "NVIDIA Fake 80GB",
        "util": 97.0,
        "mem_used_gb": 60.0,
        "mem_total_gb": 80.0,
        "power_w": 703.5,
        "temp_c": 61.0,
        "energy_j": 7000.0,
        "state": "ok",
        "power_limit_w": 700.0,
        "clock_mhz": 1755.0,
        "clock_max_mhz": 1980.0,
        "mem_clock_mhz": 2619.0,
        "ecc_errors": 0,
        "recovery": "none",
    }


def test_readings_change_over_time(play: Play) -> None:
    told = play("*.util=10", "look", "*.util=95", "look", "0.util=0", "look")
    assert [[gpu["util"] for gpu in look["gpus"][:2]] for look in told] == [[10, 10], [95, 95], [0, 95]]
    assert [look["at"] - told[0]["at"] for look in told] == [0, 2, 4]


def test_a_sample_is_taken_every_two_seconds_however_often_one_asks(play: Play) -> None:
    *_, calls = play("look", "peek", "wait:1", "peek", "peek", "calls:nvmlDeviceGetPowerUsage")
    assert calls == 8


def test_the_call_that_blocks_for_20_ms_is_never_made(play: Play) -> None:
    *_, calls = play("tensor", "look", "look", "calls:nvmlDeviceGetPcieThroughput")
    assert calls == 0


@pytest.mark.parametrize("error", [15, 16, 999])
def test_a_lost_gpu_is_marked_while_the_rest_goes_on(play: Play, error: int) -> None:
    before, after, later = play("look", f"5.error={error}", "*.util=77", "look", "look")
    assert states(before) == ["ok"] * 8
    assert states(after) == states(later) == ["ok"] * 5 + ["lost"] + ["ok"] * 2
    assert known(after["gpus"][5]) == {
        "index": 5, "uuid": "GPU-fake-5", "name": "NVIDIA Fake 80GB", "state": "lost"
    }  # fmt: skip
    assert [gpu["util"] for gpu in later["gpus"] if gpu["state"] == "ok"] == [77] * 7
    assert later["reason"] == later["note"] == "GPU 5 of 8 lost; looked for every 60 s"


def test_a_lost_gpu_that_comes_back_takes_its_old_place(play: Play) -> None:
    lost, still, back = play("look", "5.error=15", "look", "5.error=0", "wait:1", "look", MINUTE, "look")[1:]
    assert (states(lost)[5], states(still)[5], states(back)[5]) == ("lost", "lost", "ok")
    assert [gpu["uuid"] for gpu in back["gpus"]] == [f"GPU-fake-{index}" for index in range(8)]
    assert back["reason"] == ""


def test_a_gpu_lost_from_the_start_has_a_place_of_its_own(play: Play) -> None:
    first, later = play("2.error=15", "look", "2.error=0", MINUTE, "look")
    assert states(first) == ["ok", "ok", "lost", "ok", "ok", "ok", "ok", "ok"]
    assert first["gpus"][2]["uuid"] is None
    assert later["gpus"][2]["uuid"] == "GPU-fake-2"
    assert states(later) == ["ok"] * 8


def test_a_gpu_that_the_driver_no_longer_counts_is_lost_and_the_others_keep_their_numbers(play: Play) -> None:
    _, after = play("look", "sys.count=7", "5.id=6", "6.id=7", "6.util=66", "7.util=77", "look")
    assert states(after) == ["ok"] * 5 + ["lost"] + ["ok"] * 2
    assert [(gpu["index"], gpu["util"]) for gpu in after["gpus"][5:]] == [(5, None), (6, 66), (7, 77)]
    assert "GPU 5 of 8 lost" in after["reason"]


REFUSED = {
    "nvmlDeviceGetUtilizationRates": "util",
    "nvmlDeviceGetPowerUsage": "power_w",
    "nvmlDeviceGetTotalEnergyConsumption": "energy_j",
    "nvmlDeviceGetName": "name",
    "nvmlDeviceGetEnforcedPowerLimit": "power_limit_w",
    "nvmlDeviceGetMaxClockInfo": "clock_max_mhz",
    "nvmlDeviceGetClockInfo": "clock_mhz",
    "nvmlDeviceGetTotalEccErrors": "ecc_errors",
    "nvmlDeviceGetFieldValues": "recovery",
    "nvmlDeviceGetUUID": "uuid",
}
"""What is not known when a call is refused."""


@pytest.mark.parametrize("error", [3, 4, 13, 21])
def test_what_one_call_refuses_is_unknown_and_all_else_is_told(play: Play, error: int) -> None:
    refusals = [f"{index}.error.{function}={error}" for index, function in enumerate(REFUSED)]
    (told,) = play(f"sys.count={len(REFUSED)}", *refusals, "look")
    unknown = [{name for name in REFUSED.values() if gpu[name] is None} for gpu in told["gpus"]]
    assert unknown == [{name} for name in REFUSED.values()]
    assert states(told) == ["ok"] * len(REFUSED)


def test_one_odd_answer_does_not_make_a_gpu_lost(play: Play) -> None:
    (told,) = play("sys.count=2", "0.error.nvmlDeviceGetPowerUsage=999", "look")
    assert [(gpu["state"], gpu["power_w"], gpu["util"]) for gpu in told["gpus"]] == [
        ("ok", None, 50.0),
        ("ok", 400.0, 50.0),
    ]


def test_an_older_driver_is_asked_in_the_older_ways(play: Play) -> None:
    (told,) = play(
        "sys.count=1", "0.reasons=64",
        "0.error.nvmlDeviceGetMemoryInfo_v2=13",
        "0.error.nvmlDeviceGetTemperatureV=3",
        "0.error.nvmlDeviceGetCurrentClocksEventReasons=13",
        "look",
    )  # fmt: skip
    (gpu,) = told["gpus"]
    assert (gpu["mem_used_gb"], gpu["mem_total_gb"]) == (61.0, 80.0), "the older call counts what is reserved"
    assert (gpu["temp_c"], gpu["state"]) == (55.0, "throttled")


def test_a_gpu_is_not_asked_again_for_what_it_does_not_have(play: Play) -> None:
    *_, calls = play(
        "sys.count=1", "0.error.nvmlDeviceGetPowerUsage=3", "look", "look", "look",
        "calls:nvmlDeviceGetPowerUsage",
    )  # fmt: skip
    assert calls == 1


def test_a_reading_that_is_not_ready_is_asked_for_again(play: Play) -> None:
    first, second = play(
        "sys.count=1", "0.error.nvmlDeviceGetPowerUsage=27", "look",
        "0.error.nvmlDeviceGetPowerUsage=0", "look",
    )  # fmt: skip
    assert (first["gpus"][0]["power_w"], second["gpus"][0]["power_w"]) == (None, 400.0)


def test_readings_without_permission_are_named(play: Play) -> None:
    (told,) = play("*.error.nvmlDeviceGetPowerUsage=4", "look")
    assert told["reason"] == "no permission to read power_w"


def test_values_that_no_gpu_can_have_are_unknown(play: Play) -> None:
    (told,) = play("sys.count=1", "0.util=4294967295", "0.temp=255", "0.mem_total=0", "look")
    (gpu,) = told["gpus"]
    assert (gpu["util"], gpu["temp_c"], gpu["mem_used_gb"], gpu["mem_total_gb"]) == (None, None, None, None)


def test_a_garbled_name_is_no_name(play: Play) -> None:
    (told,) = play("sys.count=1", "0.garbled=1", "look")
    assert (told["gpus"][0]["name"], told["gpus"][0]["util"]) == (None, 50.0)


def test_only_heat_and_hardware_limits_count_as_throttling(play: Play) -> None:
    fine, limited = (0x0, 0x1, 0x4, 0x100), (0x8, 0x20, 0x40, 0x80, 0x44)
    bits = [f"{index}.reasons={value}" for index, value in enumerate((*fine, *limited))]
    (told,) = play(f"sys.count={len(bits)}", *bits, "look")
    assert states(told) == ["ok"] * len(fine) + ["throttled"] * len(limited)


def test_the_energy_counter_goes_on_when_the_driver_starts_its_own_anew(play: Play) -> None:
    told = play("sys.count=1", "0.energy=9e6", "look", "0.energy=1e6", "look", "0.energy=3e6", "look")
    assert [look["gpus"][0]["energy_j"] for look in told] == [9000, 10_000, 12_000]


def test_tensor_activity_is_the_share_between_two_looks_and_only_when_asked_for(play: Play) -> None:
    *told, held = play(
        "sys.count=1", "look",
        "tensor", "look",
        "0.tensor_total=10", "0.tensor_busy=4", "look",
        "0.tensor_total=20", "0.tensor_busy=5", "look",
        "no-tensor", "look", "calls:nvmlGpmSampleFree",
    )  # fmt: skip
    assert [look["gpus"][0]["tensor_active"] for look in told] == [None, None, 40.0, 10.0, None]
    assert held == 2, "the counters are let go of"


@pytest.mark.parametrize("without", ["0.gpm=0", "0.error.nvmlGpmQueryDeviceSupport=3"])
def test_a_gpu_before_hopper_has_no_tensor_activity(play: Play, without: str) -> None:
    *told, asked = play("sys.count=1", without, "tensor", "look", "look", "calls:nvmlGpmQueryDeviceSupport")
    assert [look["gpus"][0]["tensor_active"] for look in told] == [None, None]
    assert [states(look) for look in told] == [["ok"], ["ok"]]
    assert asked == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [(9, "the NVIDIA driver is not loaded"), (4, "no permission to use the NVIDIA driver"),
     (18, "NVIDIA driver and library differ in version"), (12, "no NVIDIA driver here"),
     (999, "create it anew"), (17, "NVML error 17: The operating system has blocked the request.")],
)  # fmt: skip
def test_why_there_are_no_gpus_is_one_line(play: Play, error: int, reason: str) -> None:
    (told,) = play(f"sys.error.nvmlInitWithFlags={error}", "look")
    assert "gpus" not in told
    assert reason in told["reason"]
    assert "\n" not in told["reason"]


def test_a_driver_that_sees_no_gpu_says_so(play: Play) -> None:
    (told,) = play("sys.count=0", "look")
    assert told["reason"] == "the NVIDIA driver is loaded but sees no GPU"


def test_a_missing_driver_is_looked_for_once_a_minute(play: Play) -> None:
    first, *rest = play(
        "sys.error.nvmlInitWithFlags=9", "look", "look", "calls:nvmlInitWithFlags",
        "sys.error.nvmlInitWithFlags=0", "wait:30", "look", MINUTE, "look",
    )  # fmt: skip
    calls, early, later = rest[1:]
    assert calls == 1
    assert "gpus" not in first
    assert "gpus" not in early
    assert states(later) == ["ok"] * 8


def test_a_version_mismatch_is_not_tried_again_in_this_process(play: Play) -> None:
    *_, calls = play(
        "sys.error.nvmlInitWithFlags=18", "look", "wait:9999", "look", "calls:nvmlInitWithFlags"
    )  # fmt: skip
    assert calls == 1


def test_a_driver_that_goes_away_leaves_gpus_of_unknown_state(play: Play) -> None:
    _, gone, back = play(
        "look",
        "sys.error.nvmlDeviceGetCount_v2=9",
        "look",
        "sys.error.nvmlDeviceGetCount_v2=0",
        MINUTE,
        "look",
    )
    assert states(gone) == ["unknown"] * 8
    assert {gpu["util"] for gpu in gone["gpus"]} == {None}
    assert "not loaded" in gone["note"]
    assert states(back) == ["ok"] * 8


def test_a_driver_that_lets_go_of_us_is_attached_to_again_at_once(play: Play) -> None:
    gone, back = play("look", "*.error=1", "look", "*.error=0", "look")[1:]
    assert states(gone) == ["unknown"] * 8, "not lost: no GPU is to blame"
    assert states(back) == ["ok"] * 8


def test_a_gpu_that_comes_back_is_asked_for_everything_again(play: Play) -> None:
    before, _, back = play(
        "sys.count=1", "0.error.nvmlDeviceGetPowerUsage=3", "look", "0.error=15", "look",
        "0.error=0", "0.error.nvmlDeviceGetPowerUsage=0", MINUTE, "look",
    )  # fmt: skip
    assert (before["gpus"][0]["power_w"], back["gpus"][0]["power_w"]) == (None, 400.0)


def test_a_clock_that_is_set_back_does_not_stop_the_readings(play: Play) -> None:
    before, after = play("look", "*.util=88", "wait:-3600", "look")
    assert after["at"] < before["at"]
    assert (after["gpus"][0]["util"], after["note"]) == (88, "")


def test_a_hanging_driver_makes_the_sample_stale_and_nobody_waits(play: Play) -> None:
    fresh, asked, soon, stale, staler, over = play(
        "look", "wait:2", "4.hang.nvmlDeviceGetPowerUsage=1", "peek", "wait:4", "peek", "wait:6", "peek",
        "wait:60", "peek", "4.hang.nvmlDeviceGetPowerUsage=0", "look",
    )  # fmt: skip
    assert [look["at"] - fresh["at"] for look in (asked, soon, stale, staler)] == [0, 0, 0, 0]
    assert (asked["note"], soon["note"]) == ("", "")
    assert stale["note"] == stale["reason"] == "stale 12 s: the NVIDIA driver does not answer"
    assert staler["note"].startswith("stale 72 s")
    assert stale["gpus"] == fresh["gpus"]
    assert over["note"] == ""


def test_a_driver_that_hangs_at_once_is_told_of_too(play: Play) -> None:
    first, later = play("sys.hang.nvmlInitWithFlags=1", "peek", "wait:8", "peek")
    assert (first["reason"], "gpus" in later) == ("", False)
    assert later["reason"] == "the NVIDIA driver has not answered for 8 s"


def test_an_error_79_is_named_and_the_gpu_that_fell_off_the_bus_is_lost(play: Play) -> None:
    before, after = play("look", "5.xid=79", "5.error=15", "look")
    assert before["gpus"][5]["xid"] is None
    lost = after["gpus"][5]
    assert (lost["state"], lost["xid"], lost["xid_at"]) == ("lost", 79, after["at"])
    assert after["note"] == (
        "GPU 5 of 8 lost (XID 79, the GPU has fallen off the bus); looked for every 60 s"
    )


def test_an_error_of_a_gpu_that_goes_on_is_news_for_ten_minutes(play: Play) -> None:
    _, told, later = play("look", "2.xid=31", "look", "wait:600", "look")
    assert told["note"] == "GPU 2: XID 31, the program read or wrote where it may not"
    assert (states(told)[2], told["gpus"][2]["xid"]) == ("ok", 31)
    assert (later["note"], later["gpus"][2]["xid"]) == ("", 31)


@pytest.mark.parametrize("call", ["nvmlEventSetCreate", "nvmlDeviceRegisterEvents", "nvmlEventSetWait_v2"])
def test_where_errors_are_not_told_the_readings_are(play: Play, call: str) -> None:
    told = play(f"sys.error.{call}=3", f"*.error.{call}=3", "look", "look")[-1]
    assert states(told) == ["ok"] * 8
    assert {gpu["xid"] for gpu in told["gpus"]} == {None}


def test_nobody_waits_for_an_error_to_happen(play: Play) -> None:
    # The fake driver answers only whoever does not wait.
    told = play("look", "0.xid=48", "look")[-1]
    assert told["gpus"][0]["xid"] == 48


def test_what_holds_the_clocks_down_is_named(play: Play) -> None:
    refused = [f"2.error.nvmlDeviceGetCurrentClocks{name}Reasons=3" for name in ("Event", "Throttle")]
    (told,) = play("sys.count=3", "0.reasons=68", "1.reasons=1", *refused, "look")
    assert [gpu["throttle"] for gpu in told["gpus"]] == [["power cap", "hardware thermal"], [], None]


def test_what_must_be_done_for_a_sick_gpu_is_told(play: Play) -> None:
    (told,) = play(*(f"{number}.recovery={number}" for number in range(8)), "0.ecc=3", "look")
    words = ["none", "reset", "reboot", "drain", "drain and reset", "other", "other", "other"]
    assert [gpu["recovery"] for gpu in told["gpus"]] == words
    assert told["gpus"][0]["ecc_errors"] == 3
    assert told["note"] == "GPU 1 is not well; the driver wants: reset"


def test_a_driver_that_does_not_know_the_recovery_action_is_not_asked_again(play: Play) -> None:
    told, calls = play("sys.count=1", "0.recovery_error=2", "look", "calls:nvmlDeviceGetFieldValues")
    assert (told["gpus"][0]["recovery"], calls) == (None, 1)
    *_, calls = play("sys.count=1", "0.recovery_error=2", "look", "look", "calls:nvmlDeviceGetFieldValues")
    assert calls == 1


def test_the_processes_of_a_gpu_are_told_with_their_memory(play: Play) -> None:
    (told,) = play("sys.count=3", "1.processes=2", "2.processes=1", "2.process_mem=-1", "look")
    process = {"pid": 4010, "name": "python3.11", "mem_used_gb": 40.0}
    assert [gpu["processes"] for gpu in told["gpus"]] == [
        [], [process, {**process, "pid": 4011}], [{**process, "pid": 4020, "mem_used_gb": None}]
    ]  # fmt: skip


def test_processes_that_no_call_of_any_age_tells_are_unknown(play: Play) -> None:
    calls = [f"0.error.nvmlDeviceGetComputeRunningProcesses_v{age}=13" for age in (2, 3)]
    told, again = play("sys.count=1", "0.processes=1", *calls, "look", "look")
    assert [look["gpus"][0]["processes"] for look in (told, again)] == [None, None]


def test_the_parts_of_a_split_gpu_are_told(play: Play) -> None:
    (told,) = play("sys.count=2", "1.mig=3", "1.error.nvmlDeviceGetUtilizationRates=3", "look")
    whole, split = told["gpus"]
    assert (whole["mig"], split["util"], split["state"]) == ([], None, "ok")
    part = {"name": "NVIDIA Fake 80GB MIG 1g.10gb", "mem_used_gb": 61.0, "mem_total_gb": 80.0}
    assert split["mig"] == [{"index": at, "uuid": f"MIG-fake-{1010 + at}", **part} for at in (0, 2, 4)]
