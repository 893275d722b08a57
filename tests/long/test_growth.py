"""Promise: every list, table, name map and structure may have thousands of parts, through every format. What docs/differences.md limits is tried
up to its limit."""
import pytest

from growth_cases import CASES


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_growth(case, tmp_path, promise):
    n = min(4000 // case.costs, case.most or 4000)
    promise("everything that may grow does, through every format (%s)" % case.__name__.replace("_", " "), n)
    case(n, str(tmp_path))
