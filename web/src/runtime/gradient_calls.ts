/**
 * The bindings' calls whose functions are in the second file of a WASM build (gradient_part.ts): gradients, training,
 * adapters, weights that are read, factored or edited, and vectors and residual streams in terms of the vocabulary.
 */
export const callsOfGradients =
  /gradient|backward|^optimizer_|^svd$|^composition_scores$|^(?:parameter|adapter)_|^model_(?:logit_directions|head_directions|unembed)$/;
