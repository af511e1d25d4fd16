// Rotary frequencies that a file holds: transformers takes them in place of those of the config's base, from which they
// differ where they were once saved in fp16 (ESM-2).
#pragma once

#include "clearformer/models/tower.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

/// Reads the frequencies of a tower that may store them, once for all layers, as transformers 5 does: the first in the
/// order of names. Throws malformed_file for one that is not positive; Weights::check() reports those of another number.
void adopt_frequencies(TowerConfig& tower, Weights& weights);

/// What adopt_frequencies() has read, as in the file (d_head / 2); empty if there was none.
Tensor stored_frequencies(const TowerConfig& tower);

}  // namespace clearformer
