"""The edits of run_with_hooks, implemented with PyTorch on the values that a Watch visits."""

import torch


def _axes(hook, rank):
    """(axis of the heads, axis of the positions): of queries, for scores and patterns."""
    if rank == 4 and hook.endswith(("scores_raw", "scores_softcapped", "scores", "pattern")):
        return 1, 2
    return (2 if rank == 4 else None), 1


def _indices(pick, size):
    if pick is None:
        return list(range(size))
    return [index % size for index in (pick if isinstance(pick, list) else [pick])]


def _mean(value, edit):
    """The mean over all sequences and positions, for each feature of each head."""
    _, positions = _axes(edit["hook"], value.dim())
    return value.mean((0, positions), keepdim=True).expand(value.shape)


def apply(edit, value, given):
    """`value` with the edit in the region selected by head and pos; `given` is its number or tensor, if any.

    A number as head or pos drops the axis from the region, a list keeps it; `given` is broadcast to the region.
    """
    value = value.clone()
    heads, positions = _axes(edit["hook"], value.dim())
    picks = [list(range(size)) for size in value.shape]
    dropped = []
    for key, axis in (("head", heads), ("pos", positions)):
        if key in edit:
            picks[axis] = _indices(edit[key], value.shape[axis])
            if not isinstance(edit[key], list):
                dropped.append(axis)
    where = torch.meshgrid(*[torch.tensor(pick) for pick in picks], indexing="ij")
    region = value[where]
    if torch.is_tensor(given):
        shape = [size for axis, size in enumerate(region.shape) if axis not in dropped]
        given = given.to(value.dtype).expand(shape)
        for axis in sorted(dropped):
            given = given.unsqueeze(axis)
    value[where] = {
        "zero": lambda: torch.zeros_like(region),
        "mean": lambda: _mean(value, edit)[where],
        "scale": lambda: region * given,
        "add": lambda: region + given,
        "replace": lambda: torch.zeros_like(region) + given,
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
