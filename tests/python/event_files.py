"""Reading event files, for tests."""
import os

import thalweg as tf


def events(path):
    """The events of a file, without their times."""
    made = list(tf.compat.v1.train.summary_iterator(str(path)))
    for event in made:
        event.wall_time = 0
    return made


def only(directory):
    """The only file of a directory."""
    names = os.listdir(directory)
    assert len(names) == 1, names
    return os.path.join(directory, names[0])
