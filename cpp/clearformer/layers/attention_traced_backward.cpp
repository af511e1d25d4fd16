#include "clearformer/layers/attention_traced_backward.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/pairwise_backward.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

class TracedBackward {
 public:
  TracedBackward(const AttentionKept& kept, const Mask& mask, const AttentionOptions& options,
                 const Context& context)
      : kept_(kept),
        mask_(mask),
        options_(options),
        trace_(context.trace),
        arena_(context.arena),
        batch_(kept.queries.batch),
        heads_(kept.queries.heads),
        groups_(kept.keys.heads),
        queries_(kept.queries.length),
        keys_(kept.keys.length),
        d_(context.arena.take({batch_, heads_, queries_, keys_})) {}

  // dP
  void pattern(const Heads& d_output) const {
    const Arena::Frame frame(arena_);
    Heads none = kept_.values;
    none.width = 0;
    const PackedKeyValues values = packed_in(arena_, kept_.values, none);
    parallel_for(batch_ * heads_, [&](std::size_t task) {
      const std::size_t b = task / heads_, h = task % heads_;
      kernels::matmul({{matrix(d_, b, h), keys_, queries_, keys_, kept_.values.width, {}},
                       d_output.row(b, 0, h),
                       d_output.row_stride,
                       values.keys(b, group(h)),
                       values.key_panel_stride()});
    });
    offer("hook_pattern");
  }

  void values(const Heads& d_output, const MutableHeads& d_values) const {
    const Arena::Frame frame(arena_);
    Heads none = d_output;
    none.width = 0;
    const PackedKeyValues packed = packed_in(arena_, none, d_output);
    sum_over_queries(trace_.kept("pattern"), packed, d_values, 1.0f);
  }

  // dS of what the mask was added to
  void softmax() const {
    const TensorView p =
        trace_.kept(trace_.has_kept("given_pattern") ? "given_pattern" : "pattern");
    const auto* const uniform =
        trace_.has_kept("empty") ? trace_.kept("empty").as<std::uint8_t>() : nullptr;
    parallel_ranges(batch_ * heads_ * queries_, 4 * keys_, 1,
                    [&](std::size_t first, std::size_t end) {
                      for (std::size_t row = first; row < end; ++row) {
                        const float* weight = p.f32() + row * keys_;
                        float* d = d_.f32() + row * keys_;
                        if (uniform != nullptr && uniform[row] != 0) {
                          std::fill_n(d, keys_, 0.0f);  // its weights depend on no score
                          continue;
                        }
                        double sum = 0.0;
                        for (std::size_t s = 0; s < keys_; ++s) {
                          sum += static_cast<double>(weight[s]) * d[s];
                        }
                        for (std::size_t s = 0; s < keys_; ++s) {
                          d[s] = static_cast<float>(weight[s] * (d[s] - sum));
                        }
                      }
                    });
    offer("hook_attn_scores");
    clear_hidden();
  }

  void add_bias(const MutableTensorView& bias) const {
    const std::size_t masked = keys_ - options_.unmasked_keys;
    for (std::size_t row = 0; row < batch_ * heads_ * queries_; ++row) {
      float* const to = bias.f32() + row % (bias.dim(0) * heads_ * queries_) * masked;
      kernels::add(to, d_.f32() + row * keys_, to, masked);
    }
  }

  // dS of the products
  void raw() const {
    const float cap = options_.softcap;
    if (cap > 0.0f) {
      offer("hook_attn_scores_softcapped");
      const float* const score = trace_.kept("capped").f32();
      for (std::size_t i = 0; i < d_.elements(); ++i) {
        d_.f32()[i] *= 1.0f - (score[i] / cap) * (score[i] / cap);
      }
    }
    offer("hook_attn_scores_raw");
  }

  void products(const MutableHeads& d_queries, const MutableHeads& d_keys) const {
    const Arena::Frame frame(arena_);
    Heads none = kept_.keys;
    none.width = 0;
    const PackedKeyValues keys = packed_in(arena_, none, kept_.keys);
    const float scale = options_.score.scale;
    parallel_for(batch_ * heads_, [&](std::size_t task) {
      const std::size_t b = task / heads_, h = task % heads_;
      kernels::matmul({{d_queries.row(b, 0, h),
                        d_queries.row_stride,
                        queries_,
                        kept_.queries.width,
                        keys_,
                        {scale}},
                       matrix(d_, b, h),
                       keys_,
                       keys.values(b, group(h)),
                       keys.value_panel_stride()});
    });
    none = kept_.queries;
    none.width = 0;
    const PackedKeyValues queries = packed_in(arena_, none, kept_.queries);
    sum_over_queries(d_, queries, d_keys, scale);
  }

  // The same of scores that are no dot products, pair by pair.
  void pairs(const AttentionGradients& to) const {
    const bool additive =
        options_.score.pairwise == kernels::PairwiseKernel(kernels::additive_scores);
    const std::size_t width = kept_.queries.width;
    std::vector<float> unwanted(width);
    for (std::size_t i = 0; i < batch_ * queries_ * heads_; ++i) {
      const std::size_t b = i / heads_ / queries_, t = i / heads_ % queries_, h = i % heads_;
      std::fill_n(to.queries.row(b, t, h), width, 0.0f);
    }
    for (std::size_t i = 0; i < batch_ * keys_ * groups_; ++i) {
      std::fill_n(to.keys.row(i / groups_ / keys_, i / groups_ % keys_, i % groups_), width, 0.0f);
    }
    for (std::size_t i = 0; i < d_.elements(); ++i) {
      const std::size_t s = i % keys_, t = i / keys_ % queries_, h = i / keys_ / queries_ % heads_;
      const std::size_t b = i / keys_ / queries_ / heads_, g = group(h);
      const kernels::PairGradient pair{kept_.queries.row(b, t, h),
                                       kept_.keys.row(b, s, g),
                                       options_.score.weights,
                                       d_.f32()[i] * options_.score.scale,
                                       to.queries.row(b, t, h),
                                       to.keys.row(b, s, g),
                                       to.weights == nullptr ? unwanted.data() : to.weights,
                                       width};
      if (pair.dscore == 0.0f) continue;
      additive ? kernels::additive_score_gradient(pair) : kernels::squared_distance_gradient(pair);
    }
  }

 private:
  void offer(const char* hook) const {
    const bool headless = options_.headless;
    trace_.back(hook, headless ? d_.reshaped({batch_, queries_, keys_}) : d_,
                headless ? "batch query_pos key_pos" : "batch head query_pos key_pos");
  }
  float* matrix(const TensorView& of, std::size_t b, std::size_t h) const {
    return const_cast<float*>(of.f32()) + (b * heads_ + h) * queries_ * keys_;
  }
  std::size_t group(std::size_t head) const { return head / (heads_ / groups_); }

  // out (S, ·) of a group of heads = scale · Σ over its heads, in order, of factors (T, S)ᵀ · panels (T, ·)
  void sum_over_queries(const TensorView& factors, const PackedKeyValues& panels,
                        const MutableHeads& out, float scale) const {
    const std::size_t per_group = heads_ / groups_;
    parallel_for(batch_ * groups_, [&](std::size_t task) {
      const std::size_t b = task / groups_, g = task % groups_;
      for (std::size_t h = g * per_group; h < (g + 1) * per_group; ++h) {
        float* const to = out.row(b, 0, g);
        const float* const added = h == g * per_group ? nullptr : to;
        kernels::MatmulArgs args{{to,
                                  out.row_stride,
                                  keys_,
                                  out.width,
                                  queries_,
                                  {scale, nullptr, added, out.row_stride}},
                                 matrix(factors, b, h),
                                 1,
                                 panels.values(b, h),
                                 panels.value_panel_stride()};
        args.a_step = keys_;
        kernels::matmul(args);
      }
    });
  }

  // Scores that the mask has replaced by -inf pass nothing on.
  void clear_hidden() const {
    const std::size_t masked = keys_ - options_.unmasked_keys;
    std::vector<float> row(masked);
    for (std::size_t i = 0; i < batch_ * heads_ * queries_; ++i) {
      std::fill(row.begin(), row.end(), 0.0f);
      mask_.apply(i / queries_ / heads_, i / queries_ % heads_, i % queries_, row.data(), masked);
      for (std::size_t s = 0; s < masked; ++s) {
        if (std::isinf(row[s])) d_.f32()[i * keys_ + s] = 0.0f;
      }
    }
  }

  const AttentionKept& kept_;
  const Mask& mask_;
  const AttentionOptions& options_;
  const TraceScope& trace_;
  Arena& arena_;
  std::size_t batch_, heads_, groups_, queries_, keys_;
  MutableTensorView d_;  // of the pattern, then of the scores
};

}  // namespace

bool traced_attention_backward(const AttentionKept& kept, const Mask& mask,
                               const AttentionOptions& options, const Heads& d_output,
                               const AttentionGradients& gradients, const Context& context) {
  if (!context.trace.has_kept("pattern")) return false;
  const Arena::Frame frame(context.arena);
  bool changes = false;
  for (const char* hook : {"hook_attn_scores_raw", "hook_attn_scores_softcapped",
                           "hook_attn_scores", "hook_pattern"}) {
    changes = changes || context.trace.changes_back(hook);
  }
  const TracedBackward back(kept, mask, options, context);
  back.pattern(d_output);
  if (changes) back.values(d_output, gradients.values);
  back.softmax();
  if (changes && gradients.bias.data() != nullptr) back.add_bias(gradients.bias);
  back.raw();
  if (changes && options.score.pairwise != nullptr) {
    back.pairs(gradients);
  } else if (changes) {
    back.products(gradients.queries, gradients.keys);
  }
  return changes;
}

}  // namespace clearformer
