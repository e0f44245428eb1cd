"""Parameters of the kernels inside an estimator, so that a grid reaches them."""
from copy import copy
from typing import Mapping

from .kernels import Kernel


def _members(value):
    """What a dictionary, list or kernel holds, by the names that a path has for it: {name: (key, member)}."""
    if isinstance(value, Mapping):
        return {str(key): (key, own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        names = [getattr(own, "name", None) for own in value]
        return {
            name if name and names.count(name) == 1 else str(k): (k, own)
            for k, (name, own) in enumerate(zip(names, value))
        }
    if isinstance(value, Kernel):
        return {name: (name, own) for name, own in value.get_params().items()}
    return {}


def nested_parameters(path, value):
    """All that lies below `value`, by its path."""
    found = {}
    for name, (_, own) in _members(value).items():
        found[f"{path}__{name}"] = own
        # Lists of a kernel's are values and features, unless it is made of other kernels.
        is_list = isinstance(own, (list, tuple)) and (name == "kernels" or not isinstance(value, Kernel))
        if is_list or isinstance(own, (Kernel, Mapping)):
            found.update(nested_parameters(f"{path}__{name}", own))
    return found


def with_nested(value, path, new, full):
    """`value` with another member at the end of the path, copied on the way there; `full` is what to call the parameter."""
    members = _members(value)
    if path[0] not in members:
        known = ", ".join(repr(name) for name in members) or "none"
        what = f"{value!r} is a text" if isinstance(value, str) else f"there are {known}"
        raise ValueError(f"Invalid parameter {full!r}: there is no {path[0]!r}; {what}")
    key, own = members[path[0]]
    if len(path) > 1:
        new = with_nested(own, path[1:], new, full)
    if isinstance(value, Kernel):
        made = copy(value)
        setattr(made, key, new)
        return made
    made = dict(value) if isinstance(value, Mapping) else list(value)
    made[key] = new
    return made
