// The exported functions, by source file. Their arguments and results are declared once, in
// web/src/runtime/border.ts; tests/web/border.test.ts compares them with what the code here reads.
#pragma once

#include "bindings/handles.h"
#include "bindings/marshal.h"

namespace clearformer::bindings {

/// All objects held by JavaScript.
Handles& handles();
/// The task in the arguments, if any.
std::optional<Task> task_in(const Arguments& arguments);

/// The model in the arguments.
std::shared_ptr<OpenModel> model_of(const Arguments& arguments);
/// The same, for a call that changes what its passes read: throws while one is in progress.
Model& editable(const OpenModel& open);
/// The weights of a checkpoint that has been read, which is released.
Weights weights_of(int checkpoint);
/// model.cfg, with TransformerLens' names.
emscripten::val cfg_of(const ModelConfig& config);

// checkpoint.cpp
emscripten::val build_info(const Arguments& arguments);
emscripten::val checkpoint_open(const Arguments& arguments);
emscripten::val checkpoint_index(const Arguments& arguments);
emscripten::val checkpoint_begin_file(const Arguments& arguments);
emscripten::val checkpoint_window(const Arguments& arguments);
emscripten::val checkpoint_commit(const Arguments& arguments);
emscripten::val checkpoint_end_file(const Arguments& arguments);
emscripten::val release(const Arguments& arguments);

// inspection.cpp
emscripten::val inspect(const Arguments& arguments);

// memory.cpp
/// Sets the memory budget to what this instance can hold.
void budget_memory();
emscripten::val memory_use(const Arguments& arguments);

// model.cpp
emscripten::val model_check(const Arguments& arguments);
emscripten::val model_create(const Arguments& arguments);
emscripten::val model_forward(const Arguments& arguments);
emscripten::val model_unembed(const Arguments& arguments);
emscripten::val model_logit_directions(const Arguments& arguments);
emscripten::val model_head_directions(const Arguments& arguments);
emscripten::val sentence_pooling(const Arguments& arguments);
emscripten::val sentence_pooling_backward(const Arguments& arguments);
emscripten::val unit_vectors(const Arguments& arguments);
emscripten::val unit_vectors_backward(const Arguments& arguments);
emscripten::val cache_info(const Arguments& arguments);
emscripten::val cache_crop(const Arguments& arguments);
emscripten::val cache_copy(const Arguments& arguments);

// gradient.cpp
emscripten::val model_gradient(const Arguments& arguments);

// parameters.cpp
emscripten::val parameter_list(const Arguments& arguments);
emscripten::val parameter_read(const Arguments& arguments);
emscripten::val parameter_edit(const Arguments& arguments);
emscripten::val parameter_undo(const Arguments& arguments);
emscripten::val composition_scores(const Arguments& arguments);
emscripten::val checkpoint_tensors(const Arguments& arguments);

// adapters.cpp
emscripten::val adapter_add(const Arguments& arguments);
emscripten::val adapter_use(const Arguments& arguments);
emscripten::val adapter_remove(const Arguments& arguments);

// training.cpp
emscripten::val optimizer_create(const Arguments& arguments);
emscripten::val optimizer_backward(const Arguments& arguments);
emscripten::val optimizer_clip(const Arguments& arguments);
emscripten::val optimizer_step(const Arguments& arguments);

// generation.cpp
emscripten::val generation_create(const Arguments& arguments);
emscripten::val generation_step(const Arguments& arguments);
emscripten::val generation_end(const Arguments& arguments);
emscripten::val generation_result(const Arguments& arguments);
emscripten::val generation_cache(const Arguments& arguments);

// functional.cpp
emscripten::val softmax(const Arguments& arguments);
emscripten::val log_softmax(const Arguments& arguments);
emscripten::val masked_softmax(const Arguments& arguments);
emscripten::val matmul(const Arguments& arguments);
emscripten::val bmm(const Arguments& arguments);
emscripten::val layer_norm(const Arguments& arguments);
emscripten::val rms_norm(const Arguments& arguments);
emscripten::val activation(const Arguments& arguments);
emscripten::val softplus(const Arguments& arguments);
emscripten::val gated(const Arguments& arguments);
emscripten::val conv1d(const Arguments& arguments);
emscripten::val attention_pooling(const Arguments& arguments);
emscripten::val attention_pooling_backward(const Arguments& arguments);
emscripten::val svd(const Arguments& arguments);

// positions.cpp
emscripten::val sinusoidal_encoding(const Arguments& arguments);
emscripten::val shift_matrix(const Arguments& arguments);
emscripten::val distinct_encodings(const Arguments& arguments);
emscripten::val learned_encoding(const Arguments& arguments);
emscripten::val alibi_slopes(const Arguments& arguments);
emscripten::val alibi_bias(const Arguments& arguments);
emscripten::val relative_position_bucket(const Arguments& arguments);
emscripten::val relative_position_bias(const Arguments& arguments);
emscripten::val rotary(const Arguments& arguments);
emscripten::val rotary_embedding(const Arguments& arguments);
emscripten::val patch_embedding(const Arguments& arguments);
emscripten::val prepend_tokens(const Arguments& arguments);
emscripten::val interpolate_positions(const Arguments& arguments);
emscripten::val complexity(const Arguments& arguments);

// media.cpp
emscripten::val log_mel_fbank(const Arguments& arguments);
emscripten::val log_mel_spectrogram(const Arguments& arguments);

// module.cpp
emscripten::val module_create(const Arguments& arguments);
emscripten::val module_forward(const Arguments& arguments);
emscripten::val module_backward(const Arguments& arguments);

}  // namespace clearformer::bindings
