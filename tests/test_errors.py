"""The error tree is what its module says it is."""

from __future__ import annotations

import re

from skillopt_sleep import errors


def test_the_drawn_tree_is_the_class_tree() -> None:
    drawn = re.findall(r"^[│├└─ ]*(\w+Error)$", errors.__doc__ or "", re.MULTILINE)

    def walk(kind: type[Exception]) -> list[str]:
        return [kind.__name__, *(name for sub in kind.__subclasses__() for name in walk(sub))]

    assert drawn == walk(errors.SleepError)
