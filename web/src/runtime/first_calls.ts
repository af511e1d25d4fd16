/**
 * The bindings' calls whose functions are in the first file of a WASM build: what loads and runs models. All others are in
 * the second (second_part.ts): tensor functions and modules, gradients and training, weights that are read and edited,
 * adapters, and vectors and residual streams in terms of the vocabulary (model_unembed and others, unlike model_create,
 * model_check and model_forward).
 */
export const callsOfFirst =
  /^(?:build|memory|inspect|release|checkpoint_(?!tensors)|model_[cf]|cache|generation|threads|sentence_pooling$|unit_vectors$|softmax|matmul|log_mel)/;
