// The JavaScript bindings: a table of all exported functions except those of threads.cpp.
// Each takes one object and returns { ok: true, value } or { ok: false, error: { code, message } }.

#include <emscripten/bind.h>
#include <emscripten/heap.h>

#include "bindings/functions.h"

using namespace clearformer::bindings;  // NOLINT: this file is the table only

EMSCRIPTEN_BINDINGS(clearformer) {
  using emscripten::function;
  function("build_info", &guarded<build_info>);
  function("memory_use", &guarded<memory_use>);
  function("checkpoint_open", &guarded<checkpoint_open>);
  function("checkpoint_index", &guarded<checkpoint_index>);
  function("checkpoint_begin_file", &guarded<checkpoint_begin_file>);
  function("checkpoint_window", &guarded<checkpoint_window>);
  function("checkpoint_commit", &guarded<checkpoint_commit>);
  function("checkpoint_end_file", &guarded<checkpoint_end_file>);
  function("inspect", &guarded<inspect>);
  function("model_check", &guarded<model_check>);
  function("model_create", &guarded<model_create>);
  function("model_forward", &guarded<model_forward>);
  function("model_hooks", &guarded<model_hooks>);
  function("model_unembed", &guarded<model_unembed>);
  function("model_logit_directions", &guarded<model_logit_directions>);
  function("model_head_directions", &guarded<model_head_directions>);
  function("sentence_pooling", &guarded<sentence_pooling>);
  function("unit_vectors", &guarded<unit_vectors>);
  function("cache_info", &guarded<cache_info>);
  function("cache_crop", &guarded<cache_crop>);
  function("generation_create", &guarded<generation_create>);
  function("generation_step", &guarded<generation_step>);
  function("generation_end", &guarded<generation_end>);
  function("generation_result", &guarded<generation_result>);
  function("generation_cache", &guarded<generation_cache>);
  function("softmax", &guarded<softmax>);
  function("log_softmax", &guarded<log_softmax>);
  function("masked_softmax", &guarded<masked_softmax>);
  function("matmul", &guarded<matmul>);
  function("bmm", &guarded<bmm>);
  function("layer_norm", &guarded<layer_norm>);
  function("rms_norm", &guarded<rms_norm>);
  function("activation", &guarded<activation>);
  function("softplus", &guarded<softplus>);
  function("gated", &guarded<gated>);
  function("conv1d", &guarded<conv1d>);
  function("attention_pooling", &guarded<attention_pooling>);
  function("sinusoidal_encoding", &guarded<sinusoidal_encoding>);
  function("shift_matrix", &guarded<shift_matrix>);
  function("distinct_encodings", &guarded<distinct_encodings>);
  function("learned_encoding", &guarded<learned_encoding>);
  function("alibi_slopes", &guarded<alibi_slopes>);
  function("alibi_bias", &guarded<alibi_bias>);
  function("relative_position_bucket", &guarded<relative_position_bucket>);
  function("relative_position_bias", &guarded<relative_position_bias>);
  function("rotary", &guarded<rotary>);
  function("rotary_embedding", &guarded<rotary_embedding>);
  function("patch_embedding", &guarded<patch_embedding>);
  function("prepend_tokens", &guarded<prepend_tokens>);
  function("interpolate_positions", &guarded<interpolate_positions>);
  function("complexity", &guarded<complexity>);
  function("log_mel_spectrogram", &guarded<log_mel_spectrogram>);
  function("module_create", &guarded<module_create>);
  function("module_forward", &guarded<module_forward>);
  function("release", &guarded<release>);
}
