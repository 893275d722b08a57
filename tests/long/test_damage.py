"""Promise: a byte that was changed in a file with checksums is reported, or the values are the same; nothing crashes."""
import pytest

from damage_cases import CASES, UNCHECKED, damage


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_damage(name, tmp_path, promise):
    tried, wrong = damage(name, str(tmp_path), 1)
    promise("one changed byte is reported or changes no value (%s)" % name, tried)
    assert not wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", UNCHECKED)
def test_damage_without_checksums(name, tmp_path, promise):
    tried, _ = damage(name, str(tmp_path), 1)
    promise("a changed byte in a file without checksums ends no program (%s)" % name, tried)
