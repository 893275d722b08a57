"""Nothing that may grow stops at a fixed number or loses a part on its way: what growth_cases.py lists, with small numbers. tests/long has the
large ones."""
import pytest

from growth_cases import CASES

SLOW = {"checkpoints_of_a_manager", "optimizer_state_h5", "optimizer_state_keras", "outputs_of_a_model", "v1_saver", "replicas"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [33, 70, 300])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_growth(case, n, tmp_path):
    if n == 300 and case.__name__ in SLOW:
        n = 130
    case(min(n, case.most or n), str(tmp_path))
