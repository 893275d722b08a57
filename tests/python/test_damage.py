"""A changed byte in a file with checksums is reported, or changes nothing: every few bytes of every such format; tests/long tries every byte."""
import pytest

from damage_cases import CASES, UNCHECKED, damage


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_damage(name, tmp_path):
    tried, wrong = damage(name, str(tmp_path), 31 if name == "keras" else 5)
    assert tried > 10 and not wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", UNCHECKED)
def test_damage_without_checksums(name, tmp_path):
    """Nothing tells other values from damage there; but the program goes on."""
    tried, _ = damage(name, str(tmp_path), 31 if name in ("h5", "h5_weights", "saved_model") else 2)
    assert tried > 10
