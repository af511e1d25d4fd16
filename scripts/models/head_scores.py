"""The attention of heads to four kinds of key: the previous token, the first token, duplicates, induction."""

import torch


def previous_token(ids):
    """Keys j = i - 1 of query i. All kinds: a mask of keys (B, T, T) for ids (B, T)."""
    return torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril(-1).triu(-1).expand(len(ids), -1, -1)


def first_token(ids):
    """j = 0, for the queries after it."""
    keys = torch.zeros(*ids.shape, ids.shape[1], dtype=torch.bool)
    keys[:, 1:, 0] = True
    return keys


def duplicate_token(ids):
    """j < i with the same token."""
    return (ids[:, :, None] == ids[:, None, :]).tril(-1)


def induction(ids):
    """1 <= j <= i where the token before j equals that at i: the tokens that followed earlier occurrences."""
    same = ids[:, :, None] == ids[:, None, :]
    return torch.nn.functional.pad(same[:, :, :-1], (1, 0)).tril()


KINDS = {"previous_token": previous_token, "first_token": first_token, "duplicate_token": duplicate_token,
         "induction": induction}


def head_scores(attentions, ids):
    """
    {kind: (L, H)} in float64: the attention of a query to all its keys of that kind, averaged over the queries that have
    such a key. `attentions` are the layers' maps (B, H, T, T).
    """
    scores = {}
    for kind, keys_of in KINDS.items():
        keys = keys_of(ids)
        given = [(maps.double() * keys[:, None]).sum(-1) for maps in attentions]  # (B, H, T) each
        asked = keys.any(-1)
        scores[kind] = torch.stack([layer.transpose(0, 1)[:, asked].mean(-1) for layer in given])
    return scores
