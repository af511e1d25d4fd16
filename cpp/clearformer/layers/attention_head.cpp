#include "clearformer/layers/attention_head.h"

#include <algorithm>

#include "clearformer/kernels/activations.h"
#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"

namespace clearformer {

namespace {

void multiply_rows(const ScoreTile& tile, const float* scales) {
  for (std::size_t r = 0; r < tile.rows && scales != nullptr; ++r) {
    kernels::multiply(tile.row(r), scales, tile.row(r), tile.keys);
  }
}

}  // namespace

AttentionHead::KeyBlocks AttentionHead::key_blocks(std::size_t first, std::size_t last) const {
  const std::size_t keys = keys_values.length();
  const std::size_t end = options.unmasked_keys != 0 ? keys : mask.key_limit(last, keys);
  return {std::min(mask.first_key(first), end) / kKeyBlock * kKeyBlock, end};
}

void AttentionHead::dot(const ScoreTile& tile) const {
  kernels::MatmulArgs args;
  args.a = queries.row(batch, tile.first_query, head);
  args.a_stride = stride(queries);
  args.b = keys_values.keys(batch, group, tile.first_key);
  args.panel_stride = keys_values.key_panel_stride();
  args.element = keys_values.element();
  args.workspace = wide;
  args.c = tile.scores;
  args.c_stride = tile.stride;
  args.m = tile.rows;
  args.n = tile.keys;
  args.k = keys_values.sizes().key_dim;
  args.epilogue.scale = options.score.scale;
  kernels::matmul(args);
  multiply_rows(tile, keys_values.key_scales(batch, group, tile.first_key));
}

void AttentionHead::compare(const ScoreTile& tile) const {
  kernels::PairwiseArgs args;
  args.queries = queries.row(batch, tile.first_query, head);
  args.query_stride = stride(queries);
  args.keys = static_cast<const float*>(keys_values.keys(batch, group, tile.first_key));
  args.panel_stride = keys_values.key_panel_stride();
  args.scores = tile.scores;
  args.score_stride = tile.stride;
  args.m = tile.rows;
  args.n = tile.keys;
  args.k = keys_values.sizes().key_dim;
  args.weights = options.score.weights;
  options.score.pairwise(args);
  for (std::size_t r = 0; r < tile.rows && options.score.scale != 1.0f; ++r) {
    kernels::scale(tile.row(r), options.score.scale, tile.keys);
  }
}

void AttentionHead::cap(const ScoreTile& tile) const {
  for (std::size_t r = 0; r < tile.rows; ++r) {
    kernels::softcap(tile.row(r), options.softcap, tile.keys);
  }
}

void AttentionHead::hide(const ScoreTile& tile) const {
  const std::size_t masked = keys_values.length() - options.unmasked_keys;
  const std::size_t last = last_query(tile);
  if (tile.first_key >= masked) return;
  const std::size_t keys = std::min(tile.keys, masked - tile.first_key);
  if (mask.is_open(tile.first_query, last, tile.first_key, keys)) return;
  for (std::size_t r = 0; r < tile.rows; ++r) {
    const bool heads = rows_are == RowsAre::heads;
    mask.apply(batch, head + (heads ? r : 0), tile.first_query + (heads ? 0 : r), tile.row(r), keys,
               tile.first_key);
  }
}

void AttentionHead::gather(const ScoreTile& tile, const float* before) const {
  multiply_rows(tile, keys_values.value_scales(batch, group, tile.first_key));
  kernels::MatmulArgs args;
  args.a = tile.scores;
  args.a_stride = tile.stride;
  args.b = keys_values.values(batch, group, tile.first_key);
  args.panel_stride = keys_values.value_panel_stride();
  args.element = keys_values.element();
  args.workspace = wide;
  args.c = output.row(batch, tile.first_query, head);
  args.c_stride = stride(output);
  args.m = tile.rows;
  args.n = keys_values.sizes().value_dim;
  args.k = tile.keys;
  args.epilogue.residual = before;
  args.epilogue.residual_stride = stride(output);
  kernels::matmul(args);
}

}  // namespace clearformer
