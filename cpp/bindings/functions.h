// The exported functions, by subject: checkpoint.cpp, model.cpp, generation.cpp,
// functional.cpp, positions.cpp, media.cpp, module.cpp.
#pragma once

#include "bindings/handles.h"
#include "bindings/marshal.h"

namespace clearformer::bindings {

/// All objects JavaScript holds.
Handles& handles();
/// The task that is asked for, if any.
std::optional<Task> task_in(const Arguments& arguments);

/// model.cfg, in TransformerLens' words.
emscripten::val cfg_of(const ModelConfig& config);
/// How the model generates unless it is told otherwise; throws for settings that are none.
GenerationConfig defaults_of(const Arguments& arguments, const ModelConfig& config);

/// {} -> { version, simd, heap_bytes }
emscripten::val build_info(const Arguments& arguments);
/// {} -> { weights, cache, workspace, peak }: bytes of weights, also of those that are being read,
/// of all keys and values that are held, and of the room for activations; peak: the most that the
/// three were together after any call that computes.
emscripten::val memory_use(const Arguments& arguments);

/// { dtype, config?, config_name?, task? } -> { checkpoint }; the config says which tensors are
/// weights of linear layers, to be kept in the dtype. Without one all stay fp32.
emscripten::val checkpoint_open(const Arguments& arguments);
/// { text, name } -> { files, total_size }: reads a model.safetensors.index.json.
emscripten::val checkpoint_index(const Arguments& arguments);
/// { checkpoint, name, bytes } -> {}
emscripten::val checkpoint_begin_file(const Arguments& arguments);
/// { checkpoint } -> { pointer, length }: where the file's next bytes go; length 0: complete.
emscripten::val checkpoint_window(const Arguments& arguments);
/// { checkpoint, length } -> {}
emscripten::val checkpoint_commit(const Arguments& arguments);
/// { checkpoint } -> {}
emscripten::val checkpoint_end_file(const Arguments& arguments);

/// { config?, config_name, index?, files: [{ name, bytes, start }], generation_config?, task? } ->
/// { facts, cfg? }: what is in a folder, from texts and the starts of safetensors files, as JSON (see
/// inspection.h).
emscripten::val inspect(const Arguments& arguments);
/// { config, config_name, task? } -> { model_type, task, kind }: whether a model of that kind can be
/// made at all, before its weights are read; the task is the one the config names by default.
emscripten::val model_check(const Arguments& arguments);
/// { checkpoint, config, config_name, generation_config?, task? } ->
/// { model, cfg, unexpected_tensors }; takes the checkpoint, also on failure.
emscripten::val model_create(const Arguments& arguments);
/// { model, input_ids?, … (see ModelInputs), past_key_values?, use_cache?, yield_after_ms?, abandon?,
///   stop_at_layer?, … (see observation.h) } ->
/// { outputs: { name: tensor }, lists: { name: [tensor] }, captured?, past_key_values? }, or
/// { pending: true } (see pace.h)
emscripten::val model_forward(const Arguments& arguments);
/// { model } -> { hooks: [{ name, dims, dtype }] }
emscripten::val model_hooks(const Arguments& arguments);
/// { model, x, normalize } -> tensor: logits of a residual stream
emscripten::val model_unembed(const Arguments& arguments);
/// { model, tokens } -> { vectors, bias }: see logit_directions.h
emscripten::val model_logit_directions(const Arguments& arguments);
/// { model, layer, cross, directions } -> { vectors, bias }
emscripten::val model_head_directions(const Arguments& arguments);
/// { cache } -> { batch, length, capacity, bytes }
emscripten::val cache_info(const Arguments& arguments);
/// { cache, length } -> {}
emscripten::val cache_crop(const Arguments& arguments);

/// { model, options, input_ids?, … (see ModelInputs), past_key_values?, … (see observation.h) } ->
/// { generation, prompt, num_sequences, num_beams, eos_token_ids }; prompt: what they begin with.
emscripten::val generation_create(const Arguments& arguments);
/// { generation, yield_after_ms?, abandon?, output_scores?, output_logits? }
/// -> { done, token_ids, beam_indices?, beam_scores?, scores?, logits?, lists?, captured? }, or
/// { pending: true } (see pace.h).
emscripten::val generation_step(const Arguments& arguments);
/// { generation, rows } -> { done }: these sequences are finished.
emscripten::val generation_end(const Arguments& arguments);
/// { generation } -> { sequences, sequences_scores?, beam_indices? }
emscripten::val generation_result(const Arguments& arguments);
/// { generation } -> { past_key_values }: a handle to the keys and values it holds.
emscripten::val generation_cache(const Arguments& arguments);

/// { x, axis } -> tensor
emscripten::val softmax(const Arguments& arguments);
/// { x, mask?, empty_row? } -> tensor; empty_row: "zeros" or "uniform"
emscripten::val masked_softmax(const Arguments& arguments);
/// { x, y } -> tensor
emscripten::val matmul(const Arguments& arguments);
emscripten::val bmm(const Arguments& arguments);
/// { x, axes, weight?, bias?, eps } -> tensor
emscripten::val layer_norm(const Arguments& arguments);
/// { x, axes, weight?, eps } -> tensor
emscripten::val rms_norm(const Arguments& arguments);
/// { x, kind } -> tensor; kind as in config.json: "relu", "gelu", "gelu_pytorch_tanh", "silu", "tanh"
emscripten::val activation(const Arguments& arguments);
/// { query, key, value, mask?, scale?, softcap?, enable_gqa?, empty_row?, keep?, M?, sigma?,
///   W_q?, W_k?, w_v? } -> { output, kept? };
/// keep: "raw_scores", "softcapped_scores", "masked_scores" or "weights"
emscripten::val attention_pooling(const Arguments& arguments);

/// { positions, d_model, base?, layout? } -> tensor; layout: "interleaved", "halves" or "whisper"
emscripten::val sinusoidal_encoding(const Arguments& arguments);
/// { delta, d_model, base?, layout? } -> tensor
emscripten::val shift_matrix(const Arguments& arguments);
/// { count, d_model, base?, layout? } -> number
emscripten::val distinct_encodings(const Arguments& arguments);
/// { table, positions } -> tensor
emscripten::val learned_encoding(const Arguments& arguments);
/// { num_heads } -> tensor
emscripten::val alibi_slopes(const Arguments& arguments);
/// { num_heads, queries, keys, query_offset? } -> tensor (1, H, T, S)
emscripten::val alibi_bias(const Arguments& arguments);
/// { relative_positions, num_buckets, max_distance, bidirectional } -> tensor of int32
emscripten::val relative_position_bucket(const Arguments& arguments);
/// { table, num_buckets, max_distance, bidirectional, queries, keys, query_offset? } -> tensor
emscripten::val relative_position_bias(const Arguments& arguments);
/// { x (B, H, T, d), positions, options?, rotary_dim?, interleaved? } -> tensor; options holds
/// rope_theta, rope_parameters or rope_scaling, max_position_embeddings as a config.json does.
emscripten::val rotary(const Arguments& arguments);
/// { x, cos_cache, sin_cache, position_ids?, interleaved?, num_heads?, rotary_embedding_dim? } ->
/// tensor: the ONNX operator RotaryEmbedding
emscripten::val rotary_embedding(const Arguments& arguments);
/// { images (B, C, H, W), weight (D, C, p_h, p_w), bias?, drop_remainder? } -> tensor (B, N, D)
emscripten::val patch_embedding(const Arguments& arguments);
/// { tokens (…, D), x (B, N, D) } -> tensor (B, P + N, D)
emscripten::val prepend_tokens(const Arguments& arguments);
/// { table, rows, columns, new_rows, new_columns } -> tensor
emscripten::val interpolate_positions(const Arguments& arguments);
/// { kind, sequence_length, d_model, kernel_size?, neighbourhood? } -> the members of Complexity
emscripten::val complexity(const Arguments& arguments);
/// { samples (N), feature_size, sampling_rate, hop_length, n_fft, num_samples?, padding_value } ->
/// tensor (M, T)
emscripten::val log_mel_spectrogram(const Arguments& arguments);

/// { kind, options, tensors } or { kind, options, checkpoint } -> { module }
emscripten::val module_create(const Arguments& arguments);
/// { module, tensors, masks?, names? } -> { output, captured? }
emscripten::val module_forward(const Arguments& arguments);

/// { handle } -> {}
emscripten::val release(const Arguments& arguments);

}  // namespace clearformer::bindings
