// The exported functions of the WebAssembly module that need no model, with arguments for which they succeed.
#pragma once

#include "allocation/border_session.h"

namespace clearformer::test {

/// A call, and its arguments as an expression of JavaScript, see object_of().
struct Plain {
  BorderFunction function;
  const char* arguments;
};
#define PLAIN(name, arguments) {bindings::name, "({" arguments "})"}
inline constexpr Plain kPlain[] = {
    PLAIN(build_info, ""),
    PLAIN(checkpoint_index,
          "name: 'i', text: '{\"metadata\": {}, \"weight_map\": {\"a\": \"model.safetensors\"}}'"),
    PLAIN(sentence_pooling, "x: F(1, 3, 4), mask: I([1, 3], 1, 1, 0), modes: ['mean', 'cls']"),
    PLAIN(sentence_pooling_backward,
          "x: F(1, 3, 4), mask: I([1, 3], 1, 1, 0), modes: ['mean', 'max'], grad_output: F(1, 8)"),
    PLAIN(unit_vectors, "x: F(2, 3)"),
    PLAIN(unit_vectors_backward, "x: F(2, 3), grad_output: F(2, 3)"),
    PLAIN(softmax, "x: F(2, 3), axis: 1"),
    PLAIN(log_softmax, "x: F(2, 3), axis: 1"),
    PLAIN(masked_softmax, "x: F(1, 2, 3), mask: [{ kind: 'causal', past: 1 }]"),
    PLAIN(matmul, "x: F(2, 3), y: F(3, 4)"),
    PLAIN(bmm, "x: F(2, 3, 4), y: F(2, 4, 3)"),
    PLAIN(layer_norm, "x: F(2, 3), axes: 1, eps: 1e-5, weight: F(3), bias: F(3)"),
    PLAIN(rms_norm, "x: F(2, 3), axes: 1, eps: 1e-5, weight: F(3)"),
    PLAIN(activation, "x: F(2, 3), kind: 'gelu'"),
    PLAIN(softplus, "x: F(2, 3), beta: 1, threshold: 20"),
    PLAIN(gated, "x: F(2, 4), kind: 'silu', axis: 1"),
    PLAIN(conv1d,
          "x: F(1, 2, 6), weight: F(3, 2, 3), bias: F(3), stride: 1, dilation: 1, groups: 1, "
          "padding: 1,"
          " padding_behind: 1"),
    PLAIN(attention_pooling,
          "query: F(1, 2, 4), key: F(1, 3, 4), value: F(1, 3, 4), enable_gqa: false, score: 'dot',"
          " parameters: {}, keep: 'weights', mask: [{ kind: 'allow', data: new "
          "Uint8Array(6).fill(1), dims: [2, 3] }]"),
    PLAIN(attention_pooling_backward,
          "query: F(1, 2, 4), key: F(1, 3, 4), value: F(1, 3, 4), grad_output: F(1, 2, 4), "
          "enable_gqa: false,"
          " score: 'dot', parameters: {}"),
    PLAIN(svd, "x: F(4, 3), y: F(3, 3)"),
    PLAIN(sinusoidal_encoding, "d_model: 4, positions: I([3], 0, 1, 2)"),
    PLAIN(shift_matrix, "d_model: 4, delta: 2"),
    PLAIN(distinct_encodings, "d_model: 4, count: 5"),
    PLAIN(learned_encoding, "table: F(4, 3), positions: I([2], 1, 3)"),
    PLAIN(alibi_slopes, "num_heads: 4"),
    PLAIN(alibi_bias, "num_heads: 4, queries: 2, keys: 3, query_offset: 1"),
    PLAIN(
        relative_position_bucket,
        "num_buckets: 8, max_distance: 16, bidirectional: true, relative_positions: I([2], 1, -3)"),
    PLAIN(relative_position_bias,
          "num_buckets: 8, max_distance: 16, bidirectional: true, table: F(8, 2), queries: 2, "
          "keys: 3,"
          " query_offset: 0"),
    PLAIN(rotary,
          "x: F(1, 2, 3, 4), positions: I([1, 3], 0, 1, 2), options: {}, interleaved: true"),
    PLAIN(rotary_embedding,
          "x: F(1, 2, 3, 4), cos_cache: F(3, 2), sin_cache: F(3, 2), interleaved: false,"
          " position_ids: I([1, 3], 0, 1, 2)"),
    PLAIN(patch_embedding,
          "images: F(1, 1, 4, 4), weight: F(3, 1, 2, 2), bias: F(3), drop_remainder: false"),
    PLAIN(prepend_tokens, "tokens: F(1, 4), x: F(1, 3, 4)"),
    PLAIN(interpolate_positions,
          "table: F(5, 3), rows: 2, columns: 2, new_rows: 3, new_columns: 3"),
    PLAIN(complexity, "kind: 'self_attention', sequence_length: 8, d_model: 4"),
    PLAIN(log_mel_spectrogram,
          "samples: F(800), feature_size: 8, sampling_rate: 16000, hop_length: 160, n_fft: 400, "
          "padding_value: 0"),
    PLAIN(
        log_mel_fbank,
        "samples: F(800), num_mel_bins: 8, sampling_rate: 16000, max_length: 4, do_normalize: true,"
        " mean: -4, std: 4"),
    PLAIN(memory_use, ""),
};
#undef PLAIN

}  // namespace clearformer::test
