"""Names of kernels as people read them: features by their names, or counted as scikit-learn does, x0, x1, ...

The core calls a kernel on the first and third features of a view ``rbf@view[1,3]``. Here it is ``rbf@mean radius,mean area``, or
``rbf@view[...]`` where there are several views. Names that a user gave are kept.
"""
import re

_PLACE = re.compile(r'@("[^"]*"|[\w.-]+)\[([\d.,]+)\]')


def _feature_name(names, number):
    """The feature with a number from 1."""
    return names[number - 1] if names else f"x{number - 1}"


def readable(name, features):
    """What a kernel of the core is called; `features` has the names of the features of every view, none for those without."""

    def place(match):
        names = features.get(match[1].strip('"'), [])
        items = [[int(end) for end in item.split("..")] for item in match[2].split(",")]
        inside = ",".join("..".join(_feature_name(names, end) for end in item) for item in items)
        return f"@{inside}" if len(features) == 1 else f"@{match[1]}[{inside}]"

    return _PLACE.sub(place, name)


def specification(name, features):
    """The core's name of a kernel on a single feature that `readable` made `name` of; else `name`."""
    head, at, place = name.rpartition("@")
    for view, names in features.items() if at else ():
        inside = re.fullmatch(re.escape(view) + r"\[(.*)\]", place)
        feature = inside[1] if inside else place if len(features) == 1 else ""
        if feature in names:
            return f"{head}@{view}[{names.index(feature) + 1}]"
        if not names and re.fullmatch(r"x\d+", feature):
            return f"{head}@{view}[{int(feature[1:]) + 1}]"
    return name
