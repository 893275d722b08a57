"""Promise: the number of threads changes no bit of any result."""
from test_thread_counts import compare


def test_numbers_of_threads(promise):
    promise("results have the same bits with 1, 2, 3, 4, 7, 8 and 16 threads", compare([2, 3, 4, 7, 8, 16]))
