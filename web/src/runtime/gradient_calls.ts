/**
 * The bindings' calls whose functions are in the second file of a WASM build (gradient_part.ts): gradients, training,
 * singular values, edits of weights, and vectors and residual streams in terms of the vocabulary.
 */
export const callsOfGradients =
  /gradient|backward|^optimizer_|^svd$|^composition_scores$|^parameter_(?:edit|undo)$|^model_(?:logit_directions|head_directions|unembed)$/;
