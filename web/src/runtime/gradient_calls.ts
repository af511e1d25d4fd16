/** The bindings' calls whose functions are in the second file of a WASM build: gradients, training, edits of weights (gradient_part.ts). */
export const callsOfGradients = /gradient|backward|^optimizer_|^svd$|^composition_scores$|^parameter_(?:edit|undo)$/;
