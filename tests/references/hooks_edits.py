"""The edits of run_with_hooks, implemented with PyTorch on the values that a Watch visits."""

import torch


def axes_of(hook, rank):
    """The axis that each selection of an edit picks from; positions are those of queries, for scores and patterns."""
    if rank == 4 and ("hook_attn_scores" in hook or hook.endswith("hook_pattern")):
        return {"row": 0, "head": 1, "pos": 2, "key_pos": 3}
    return {"row": 0, "pos": 1} | ({"head": 2} if rank == 4 else {}) | {"feature": rank - 1}


def _indices(pick, size):
    if pick is None:
        return list(range(size))
    return [index % size for index in (pick if isinstance(pick, list) else [pick])]


def _mean(value, edit):
    """The mean over all sequences and positions, for each feature of each head."""
    return value.mean((0, axes_of(edit["hook"], value.dim())["pos"]), keepdim=True).expand(value.shape)


def _without(region, directions):
    """Vectors without their projections on the space of the directions, (d) or (k, d)."""
    basis = torch.linalg.qr(directions.to(region.dtype).reshape(-1, region.shape[-1]).T).Q
    return region - region @ basis @ basis.T


def apply(edit, value, given):
    """`value` with the edit in the selected region; `given` is its number or tensor, if any.

    A number as selection drops the axis from the region, a list keeps it; `given` is broadcast to the region.
    """
    value = value.clone()
    picks = [list(range(size)) for size in value.shape]
    dropped = []
    for key, axis in axes_of(edit["hook"], value.dim()).items():
        if key in edit:
            picks[axis] = _indices(edit[key], value.shape[axis])
            if not isinstance(edit[key], list):
                dropped.append(axis)
    where = torch.meshgrid(*[torch.tensor(pick) for pick in picks], indexing="ij")
    region = value[where]
    if torch.is_tensor(given) and edit["op"] != "project_out":
        shape = [size for axis, size in enumerate(region.shape) if axis not in dropped]
        given = given.to(value.dtype).expand(shape)
        for axis in sorted(dropped):
            given = given.unsqueeze(axis)
    value[where] = {
        "zero": lambda: torch.zeros_like(region),
        "mean": lambda: _mean(value, edit)[where] if given is None else torch.zeros_like(region) + given,
        "scale": lambda: region * given,
        "add": lambda: region + given,
        "replace": lambda: torch.zeros_like(region) + given,
        "clamp": lambda: region.clamp(edit.get("min"), edit.get("max")),
        "project_out": lambda: _without(region, given),
    }[edit["op"]]()
    return value


def functions(edits, tensors):
    """The function for a Watch: applies the edits of each hook point in order."""
    def chain(own):
        def change(value):
            for edit in own:
                given = edit.get("value")
                value = apply(edit, value, tensors[given] if isinstance(given, str) else given)
            return value
        return change
    return {hook: chain([edit for edit in edits if edit["hook"] == hook]) for hook in {edit["hook"] for edit in edits}}
