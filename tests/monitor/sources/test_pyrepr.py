import math

from hypothesis import given
from hypothesis import strategies as st

from rltop.monitor.sources.pyrepr import numbers, read_dict


def test_a_repr_with_nan_inf_and_numpy_wrappers_is_read() -> None:
    read = read_dict(
        "{'a': nan, 'b': -inf, 'c': np.float64(0.5), 'd': tensor(2., device='cuda:0'), 'e': 1e-06}"
    )
    assert read is not None
    values = numbers(read[0])
    assert math.isnan(values["a"])
    assert values["b"] == -math.inf
    assert (values["c"], values["d"], values["e"]) == (0.5, 2.0, 1e-06)


def test_numbers_printed_as_strings_count_and_other_text_does_not() -> None:
    read = read_dict(
        "{'loss': '0.1234', 'num_tokens': '1.121e+07', 'name': 'run-3', 'none': None, 'on': True}"
    )
    assert read is not None
    assert numbers(read[0]) == {"loss": 0.1234, "num_tokens": 1.121e07, "on": 1.0}


def test_nested_dicts_are_flattened_and_sequences_skipped() -> None:
    read = read_dict("{'a': {'b': 1, 'c': {'d': 2}}, 'e': [1, {'x': (2, 3)}], 'f': 4}")
    assert read is not None
    assert numbers(read[0]) == {"a/b": 1, "a/c/d": 2, "f": 4}


def test_the_position_after_the_dict_is_told() -> None:
    text = "step 3: {'a': 1} and more"
    read = read_dict(text, 8)
    assert read == ({"a": 1.0}, text.index(" and more"))


def test_quotes_and_braces_inside_strings_do_not_end_anything() -> None:
    assert read_dict(r"""{'it\'s {': 1, "b'": 2}""") == ({"it's {": 1.0, "b'": 2.0}, 23)


def test_a_cut_dict_is_none() -> None:
    for text in ("{'a': 1", "{'a': ", "{'a", "{", "", "no dict", "{'a': 1,, }", "{'a' 1}", "{" * 10_000):
        assert read_dict(text) is None


def test_deep_nesting_is_refused_not_followed() -> None:
    assert read_dict("{'a': " * 5000 + "1" + "}" * 5000) is None
    assert read_dict("{'a': " + "[" * 5000 + "]" * 5000 + "}") is None


@given(st.text(alphabet="{}[]()'\",:=ab1.-+e nan\\", max_size=200))
def test_no_text_makes_it_raise(text: str) -> None:
    read = read_dict("{" + text)
    assert read is None or read[1] <= len(text) + 1


VALUE = st.one_of(st.floats(allow_nan=False), st.integers(-(10**12), 10**12), st.booleans(), st.none())


@given(st.dictionaries(st.text(max_size=12), VALUE, max_size=8))
def test_what_python_prints_is_read_back(values: dict[str, float | int | bool | None]) -> None:
    text = repr(values)
    if "\\x" in text or "\\u" in text or "\\U" in text or "\\n" in text or "\\r" in text or "\\t" in text:
        return  # keys of metrics hold no control characters: such escapes are not undone
    read = read_dict(text)
    assert read is not None
    assert read[0] == values
