// The JavaScript bindings: a table of all exported functions except those of threads.cpp.
// Each takes one object and returns { ok: true, value } or { ok: false, error: { code, message } }.

#include <emscripten/bind.h>

#include "bindings/functions.h"

namespace clearformer::bindings {
namespace {

constexpr Export kExports[] = {
    {"build_info", build_info},
    {"memory_use", memory_use},
    {"checkpoint_open", checkpoint_open},
    {"checkpoint_index", checkpoint_index},
    {"checkpoint_begin_file", checkpoint_begin_file},
    {"checkpoint_window", checkpoint_window},
    {"checkpoint_commit", checkpoint_commit},
    {"checkpoint_end_file", checkpoint_end_file},
    {"inspect", inspect},
    {"model_check", model_check},
    {"model_create", model_create},
    {"model_forward", model_forward},
    {"model_hooks", model_hooks},
    {"model_unembed", model_unembed},
    {"model_logit_directions", model_logit_directions},
    {"model_head_directions", model_head_directions},
    {"model_gradient", model_gradient},
    {"parameter_list", parameter_list},
    {"parameter_read", parameter_read},
    {"parameter_edit", parameter_edit},
    {"parameter_undo", parameter_undo},
    {"composition_scores", composition_scores},
    {"adapter_add", adapter_add},
    {"adapter_use", adapter_use},
    {"adapter_remove", adapter_remove},
    {"optimizer_create", optimizer_create},
    {"optimizer_backward", optimizer_backward},
    {"optimizer_clip", optimizer_clip},
    {"optimizer_step", optimizer_step},
    {"sentence_pooling", sentence_pooling},
    {"unit_vectors", unit_vectors},
    {"cache_info", cache_info},
    {"cache_crop", cache_crop},
    {"cache_copy", cache_copy},
    {"generation_create", generation_create},
    {"generation_step", generation_step},
    {"generation_end", generation_end},
    {"generation_result", generation_result},
    {"generation_cache", generation_cache},
    {"softmax", softmax},
    {"log_softmax", log_softmax},
    {"masked_softmax", masked_softmax},
    {"matmul", matmul},
    {"bmm", bmm},
    {"layer_norm", layer_norm},
    {"rms_norm", rms_norm},
    {"activation", activation},
    {"softplus", softplus},
    {"gated", gated},
    {"conv1d", conv1d},
    {"attention_pooling", attention_pooling},
    {"svd", svd},
    {"sinusoidal_encoding", sinusoidal_encoding},
    {"shift_matrix", shift_matrix},
    {"distinct_encodings", distinct_encodings},
    {"learned_encoding", learned_encoding},
    {"alibi_slopes", alibi_slopes},
    {"alibi_bias", alibi_bias},
    {"relative_position_bucket", relative_position_bucket},
    {"relative_position_bias", relative_position_bias},
    {"rotary", rotary},
    {"rotary_embedding", rotary_embedding},
    {"patch_embedding", patch_embedding},
    {"prepend_tokens", prepend_tokens},
    {"interpolate_positions", interpolate_positions},
    {"complexity", complexity},
    {"log_mel_spectrogram", log_mel_spectrogram},
    {"module_create", module_create},
    {"module_forward", module_forward},
    {"release", release},
};
}  // namespace

EMSCRIPTEN_BINDINGS(clearformer) { register_exports(kExports); }

}  // namespace clearformer::bindings
