#include "clearformer/models/cost.h"

#include <algorithm>

#include "clearformer/tensor/memory_budget.h"

namespace clearformer {

CacheBytes cache_bytes(const ModelConfig& config, CacheFormat format) {
  const bool reads_source = config.kind == ModelKind::encoder_decoder;
  if (config.kind != ModelKind::decoder_only && !reads_source) return {};
  const AttentionConfig& attention = config.main().stack.block.attention;
  const std::uint64_t heads = attention.num_heads, groups = attention.num_key_value_heads;
  const std::uint64_t bytes =
      std::uint64_t{2} * config.n_layers() * bytes_of(format, attention.d_head);
  return {bytes * (groups == 0 ? heads : groups), reads_source ? bytes * heads : 0};
}

std::uint64_t activation_bytes(const TowerConfig& tower, const PassSize& pass) {
  const BlockConfig& block = tower.stack.block;
  const std::uint64_t d_model = tower.d_model();
  const std::uint64_t width =
      d_model + std::max<std::uint64_t>(block.feed_forward.d_hidden, d_model);
  const std::uint64_t rows = bounded_product(pass.batch, pass.positions);
  // Two biases per query and key.
  const std::uint64_t heads = tower.relative_table ? 2 * block.attention.num_heads : 0;
  return bounded_product(rows, (width + heads * pass.positions) * sizeof(float));
}

}  // namespace clearformer
