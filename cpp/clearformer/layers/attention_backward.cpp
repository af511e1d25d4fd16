#include "clearformer/layers/attention_backward.h"

#include <algorithm>

#include "clearformer/kernels/activation_derivatives.h"
#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/pairwise_backward.h"
#include "clearformer/kernels/softmax_backward.h"
#include "clearformer/layers/attention_head.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

std::size_t panel_floats(std::size_t width) { return PackedKeyValues::rounded(width); }

// Per-worker buffers.
struct BackwardBuffers {
  float *pattern, *capped, *d;  // (kQueryBlock, kKeyBlock)
  float *d_output, *queries;    // a block's rows in panels: (kQueryBlock, width)
  float* shift;                 // (kQueryBlock)

  static std::size_t floats(std::size_t width, std::size_t value_width) {
    return kQueryBlock * (3 * kKeyBlock + panel_floats(width) + panel_floats(value_width) + 1);
  }
  BackwardBuffers(float* memory, std::size_t width)
      : pattern(memory),
        capped(pattern + kQueryBlock * kKeyBlock),
        d(capped + kQueryBlock * kKeyBlock),
        d_output(d + kQueryBlock * (kKeyBlock + 1 + panel_floats(width))),
        queries(d + kQueryBlock * (kKeyBlock + 1)),
        shift(d + kQueryBlock * kKeyBlock) {}
};

// Rows `first` … of a head as panels of their columns: the right-hand side of a product that sums over rows.
void pack_rows(const Heads& x, std::size_t batch, std::size_t first, std::size_t rows,
               std::size_t head, float* panels) {
  const std::size_t width = kernels::panel_width();
  for (std::size_t r = 0; r < rows; ++r) {
    const float* from = x.row(batch, first + r, head);
    for (std::size_t i = 0; i < x.width; i += width) {
      std::copy_n(from + i, std::min(width, x.width - i), panels + i * rows + r * width);
    }
  }
}

// to(first_key + s) += Σ_r tile[r, s] · x(r), with the rows x in panels.
void add_turned(const ScoreTile& tile, const float* panels, float* to, std::size_t to_stride,
                std::size_t width) {
  kernels::MatmulArgs args{{to, to_stride, tile.keys, width, tile.rows, {}}};
  args.epilogue.residual = to;
  args.epilogue.residual_stride = to_stride;
  args.a = tile.scores;
  args.a_stride = 1;
  args.a_step = tile.stride;
  args.b = panels;
  args.panel_stride = tile.rows * kernels::panel_width();
  kernels::matmul(args);
}

void fill_zero(const MutableHeads& x, std::size_t batch, std::size_t head) {
  for (std::size_t t = 0; t < x.length && x.data != nullptr; ++t) {
    std::fill_n(x.row(batch, t, head), x.width, 0.0f);
  }
}

// What all heads share.
struct Backward {
  const AttentionKept& kept;
  const Mask& mask;
  const AttentionOptions& options;
  const Heads& d_output;
  AttentionGradients to;          // keys and values of each query head
  PackedKeyValues keys, swapped;  // swapped: values as keys, keys as values
  AttentionOptions plain = {};    // products without a scale
  float* of_weights = nullptr;    // (B, H, d)
  std::size_t per_group = 1;

  void head(std::size_t batch, std::size_t head, const BackwardBuffers& buffers) const;

 private:
  void block(const AttentionHead& scores, std::size_t first, std::size_t rows,
             const BackwardBuffers& buffers) const;
  void tile(const AttentionHead& scores, const ScoreTile& pattern,
            const BackwardBuffers& buffers) const;
  void compare(const AttentionHead& scores, const ScoreTile& d) const;
  void spread(const AttentionHead& scores, std::size_t query) const;
  const float* saved(const AttentionHead& scores, std::size_t query) const {
    const std::size_t row = scores.batch * kept.queries.heads + scores.head;
    return kept.softmax + 2 * (row * kept.queries.length + query);
  }
};

void Backward::head(std::size_t batch, std::size_t head, const BackwardBuffers& buffers) const {
  fill_zero(to.queries, batch, head);
  fill_zero(to.keys, batch, head);
  fill_zero(to.values, batch, head);
  const AttentionHead scores{kept.queries,     keys,   mask, options, to.queries, batch, head,
                             head / per_group, nullptr};
  for (std::size_t first = 0; first < kept.queries.length; first += kQueryBlock) {
    block(scores, first, std::min(kQueryBlock, kept.queries.length - first), buffers);
  }
}

// One block of queries against all keys they may attend to.
void Backward::block(const AttentionHead& scores, std::size_t first, std::size_t rows,
                     const BackwardBuffers& buffers) const {
  const std::size_t batch = scores.batch, head = scores.head;
  pack_rows(d_output, batch, first, rows, head, buffers.d_output);
  pack_rows(kept.queries, batch, first, rows, head, buffers.queries);
  for (std::size_t r = 0; r < rows; ++r) {
    buffers.shift[r] = static_cast<float>(kernels::dot_of(d_output.row(batch, first + r, head),
                                                          kept.output.row(batch, first + r, head),
                                                          d_output.width));
    const bool empty = saved(scores, first + r)[1] == 0.0f;
    if (empty && options.empty_row == EmptyRow::uniform) spread(scores, first + r);
  }
  const auto [begin, end] = scores.key_blocks(first, first + rows - 1);
  for (std::size_t key = begin; key < end; key += kKeyBlock) {
    tile(scores, {first, rows, key, std::min(kKeyBlock, end - key), buffers.pattern, kKeyBlock},
         buffers);
  }
}

void Backward::tile(const AttentionHead& scores, const ScoreTile& pattern,
                    const BackwardBuffers& buffers) const {
  const std::size_t batch = scores.batch, head = scores.head;
  const bool capped = options.softcap > 0.0f;
  scores.score(pattern);
  if (capped) {
    scores.cap(pattern);
    std::copy_n(pattern.scores, pattern.rows * pattern.stride, buffers.capped);
  }
  scores.hide(pattern);
  for (std::size_t r = 0; r < pattern.rows; ++r) {
    const float* state = saved(scores, pattern.first_query + r);
    kernels::resume_softmax(pattern.row(r), state[0], state[1], pattern.keys);
  }
  if (to.values.data != nullptr) {
    add_turned(pattern, buffers.d_output, to.values.row(batch, pattern.first_key, head),
               to.values.row_stride, to.values.width);
  }
  ScoreTile d = pattern;
  d.scores = buffers.d;
  const AttentionHead values{d_output, swapped, mask,         plain,  to.queries,
                             batch,    head,    scores.group, nullptr};
  values.dot(d);
  const std::size_t masked = kept.keys.length - options.unmasked_keys;
  const std::size_t hidden = std::min(masked, d.first_key + d.keys);  // one past the last
  for (std::size_t r = 0; r < d.rows; ++r) {
    float* row = d.row(r);
    kernels::softmax_derivative(pattern.row(r), buffers.shift[r], row, d.keys);
    if (to.bias.data() != nullptr && hidden > d.first_key) {
      const std::size_t of = (to.bias.dim(0) == 1 ? 0 : batch) * kept.queries.heads + head;
      float* bias = to.bias.f32() + (of * kept.queries.length + d.first_query + r) * masked;
      kernels::add(bias + d.first_key, row, bias + d.first_key, hidden - d.first_key);
    }
    if (capped) {
      kernels::softcap_derivative(buffers.capped + r * kKeyBlock, options.softcap, row, d.keys);
    }
    if (options.score.scale != 1.0f) kernels::scale(row, options.score.scale, d.keys);
  }
  if (options.score.pairwise != nullptr) return compare(scores, d);
  if (to.queries.data != nullptr) {
    values.gather(d, to.queries.row(batch, d.first_query, head));
  }
  if (to.keys.data != nullptr) {
    add_turned(d, buffers.queries, to.keys.row(batch, d.first_key, head), to.keys.row_stride,
               to.keys.width);
  }
}

// Scores that are no dot products, pair by pair.
void Backward::compare(const AttentionHead& scores, const ScoreTile& d) const {
  const std::size_t batch = scores.batch, head = scores.head, width = kept.queries.width;
  const bool additive = options.score.pairwise == kernels::PairwiseKernel(kernels::additive_scores);
  for (std::size_t r = 0; r < d.rows; ++r) {
    const std::size_t query = d.first_query + r;
    for (std::size_t s = 0; s < d.keys; ++s) {
      if (d.row(r)[s] == 0.0f) continue;
      const std::size_t key = d.first_key + s;
      const kernels::PairGradient pair{kept.queries.row(batch, query, head),
                                       kept.keys.row(batch, key, scores.group),
                                       options.score.weights,
                                       d.row(r)[s],
                                       to.queries.row(batch, query, head),
                                       to.keys.row(batch, key, head),
                                       of_weights + (batch * kept.queries.heads + head) * width,
                                       width};
      additive ? kernels::additive_score_gradient(pair) : kernels::squared_distance_gradient(pair);
    }
  }
}

// The values' gradient from a query whose weights are uniform.
void Backward::spread(const AttentionHead& scores, std::size_t query) const {
  const float share = 1.0f / static_cast<float>(kept.values.length);
  const float* from = d_output.row(scores.batch, query, scores.head);
  for (std::size_t s = 0; s < to.values.length && to.values.data != nullptr; ++s) {
    float* row = to.values.row(scores.batch, s, scores.head);
    for (std::size_t i = 0; i < to.values.width; ++i) row[i] += share * from[i];
  }
}

// Sums the gradients (B, S, H, d) of the query heads that share a key head, in order.
void sum_groups(const MutableHeads& heads, const MutableHeads& to) {
  const std::size_t per_group = heads.heads / to.heads;
  parallel_ranges(to.batch * to.length, heads.heads * to.width, 1,
                  [&](std::size_t first, std::size_t end) {
                    for (; first < end; ++first) {
                      const std::size_t b = first / to.length, s = first % to.length;
                      for (std::size_t h = 0; h < heads.heads; ++h) {
                        float* row = to.row(b, s, h / per_group);
                        const float* from = heads.row(b, s, h);
                        if (h % per_group == 0) {
                          std::copy_n(from, to.width, row);
                        } else {
                          kernels::add(row, from, row, to.width);
                        }
                      }
                    }
                  });
}

// Where a head's own gradients of its keys or values go: the result, or memory of their own if heads share it.
MutableHeads of_each_head(const MutableHeads& wanted, const Heads& operand, std::size_t heads,
                          bool always, Arena& arena) {
  if (wanted.data == nullptr ? !always : wanted.heads == heads) return wanted;
  return positions_first_mutable(arena.take({operand.batch, operand.length, heads, operand.width}));
}

}  // namespace

void attention_backward(const AttentionKept& kept, const Mask& mask,
                        const AttentionOptions& options, const Heads& d_output,
                        const AttentionGradients& gradients, Arena& arena) {
  const Arena::Frame frame(arena);
  const std::size_t heads = kept.queries.heads, batch = kept.queries.batch;
  const std::size_t width = kept.queries.width, tasks = batch * heads;
  mask.check("attention", batch, heads, kept.queries.length,
             kept.keys.length - options.unmasked_keys);
  const bool pairs = options.score.pairwise != nullptr;
  Heads no_values = kept.values;
  no_values.width = 0;
  Backward all{kept,
               mask,
               options,
               d_output,
               gradients,
               packed_in(arena, kept.keys, no_values),
               packed_in(arena, kept.values, kept.keys)};
  all.per_group = heads / kept.keys.heads;
  all.plain.unmasked_keys = options.unmasked_keys;
  all.to.queries = of_each_head(gradients.queries, kept.queries, heads, pairs, arena);
  all.to.keys = of_each_head(gradients.keys, kept.keys, heads, pairs, arena);
  all.to.values = of_each_head(gradients.values, kept.values, heads, false, arena);
  if (pairs) {
    all.of_weights = arena.take({tasks, width}).f32();
    std::fill_n(all.of_weights, tasks * width, 0.0f);
  }
  const std::size_t floats = BackwardBuffers::floats(width, d_output.width);
  const std::size_t workers = num_threads();
  float* const memory = arena.take({workers, floats}).f32();
  // A bias that all sequences share is summed by the task of its head.
  const bool shared = gradients.bias.data() != nullptr && gradients.bias.dim(0) == 1;
  parallel_for(shared ? heads : tasks, workers, [&](std::size_t task, std::size_t worker) {
    const BackwardBuffers buffers(memory + worker * floats, width);
    if (!shared) return all.head(task / heads, task % heads, buffers);
    for (std::size_t b = 0; b < batch; ++b) all.head(b, task, buffers);
  });
  if (gradients.keys.data != nullptr && gradients.keys.data != all.to.keys.data) {
    sum_groups(all.to.keys, gradients.keys);
  }
  if (gradients.values.data != nullptr && gradients.values.data != all.to.values.data) {
    sum_groups(all.to.values, gradients.values);
  }
  for (std::size_t task = 0; task < tasks && pairs && gradients.weights != nullptr; ++task) {
    kernels::add(gradients.weights, all.of_weights + task * width, gradients.weights, width);
  }
}

}  // namespace clearformer
