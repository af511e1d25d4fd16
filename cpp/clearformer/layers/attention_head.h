// AttentionHead: the steps of attention on tiles of one head's scores, for the forward and the backward pass.
#pragma once

#include "clearformer/layers/attention.h"

namespace clearformer {

/// Rows of scores in memory at a time, and columns of them, a multiple of every panel width.
inline constexpr std::size_t kQueryBlock = 48, kKeyBlock = 128;

/// A tile of scores, in a buffer with its own stride.
struct ScoreTile {
  std::size_t first_query, rows, first_key, keys;
  float* scores;
  std::size_t stride;

  float* row(std::size_t r) const { return scores + r * stride; }
};

/// What the rows of a tile are: queries of one head, or, for a single query, the heads that share keys and values, which
/// are then read once for all of them. A row has the same bits in either.
enum class RowsAre { queries, heads };

/// One head of one sequence (or the first one of its group).
struct AttentionHead {
  const Heads& queries;
  const PackedKeyValues& keys_values;
  const Mask& mask;
  const AttentionOptions& options;
  const MutableHeads& output;
  std::size_t batch, head, group;
  float* wide;  // for rounded keys and values: widened_floats()
  RowsAre rows_are = RowsAre::queries;
  float* softmax = nullptr;  // (B, H, T, 2) of all heads: see attention()

  template <class Float>
  std::size_t stride(const HeadsOf<Float>& x) const {
    return rows_are == RowsAre::heads ? x.head_stride : x.row_stride;
  }
  std::size_t last_query(const ScoreTile& tile) const {
    return tile.first_query + (rows_are == RowsAre::heads ? 0 : tile.rows - 1);
  }

  struct KeyBlocks {
    std::size_t begin, end;
  };
  /// The keys of the queries first … last. Blocks of keys that no query may attend to are skipped. Blocks start at
  /// multiples of kKeyBlock, so that a row's sum does not depend on the other rows.
  KeyBlocks key_blocks(std::size_t first, std::size_t last) const;

  /// scores[r, s] = scale · score(q(first_query + r), k(first_key + s))
  void score(const ScoreTile& tile) const {
    options.score.pairwise == nullptr ? dot(tile) : compare(tile);
  }
  void dot(const ScoreTile& tile) const;
  void cap(const ScoreTile& tile) const;
  void hide(const ScoreTile& tile) const;
  /// output(first_query + r) = before + Σ_s pattern[r, s] · v(first_key + s); the pattern takes the values' scales.
  void gather(const ScoreTile& tile, const float* before) const;

 private:
  void compare(const ScoreTile& tile) const;
};

}  // namespace clearformer
