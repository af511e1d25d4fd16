#include "clearformer/layers/attention.h"

#include <algorithm>
#include <limits>

#include "clearformer/kernels/activations.h"
#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/pairwise.h"
#include "clearformer/kernels/softmax.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

constexpr std::size_t kQueryBlock = 48;  // rows of scores in memory at a time

// A run of rows of one head's scores, in a buffer of its own stride.
struct Rows {
  std::size_t first, count, keys;
  float* scores;
  std::size_t stride;

  float* row(std::size_t r) const { return scores + r * stride; }
};

// One head of one sequence, and the steps of attention on some of its rows.
struct Head {
  const Heads& queries;
  const PackedKeyValues& keys_values;
  const Mask& mask;
  const AttentionOptions& options;
  const MutableHeads& output;
  std::size_t batch, head, group;

  void dot(const Rows& rows) const {
    kernels::MatmulArgs args;
    args.a = queries.row(batch, rows.first, head);
    args.a_stride = queries.row_stride;
    args.b = keys_values.keys(batch, group);
    args.panel_stride = keys_values.key_panel_stride();
    args.c = rows.scores;
    args.c_stride = rows.stride;
    args.m = rows.count;
    args.n = rows.keys;
    args.k = keys_values.sizes().key_dim;
    kernels::matmul(args);
  }

  void compare(const Rows& rows) const {
    kernels::PairwiseArgs args;
    args.queries = queries.row(batch, rows.first, head);
    args.query_stride = queries.row_stride;
    args.keys = keys_values.keys(batch, group);
    args.panel_stride = keys_values.key_panel_stride();
    args.scores = rows.scores;
    args.score_stride = rows.stride;
    args.m = rows.count;
    args.n = rows.keys;
    args.k = keys_values.sizes().key_dim;
    if (options.score == Score::additive) {
      kernels::additive_scores(args, options.additive_weights);
    } else {
      kernels::squared_distances(args);
    }
  }

  // scores[r, :] = scale · score(q(first + r), k(:))
  void score(const Rows& rows) const {
    options.score == Score::dot ? dot(rows) : compare(rows);
    if (options.scale == 1.0f) return;
    for (std::size_t r = 0; r < rows.count; ++r) {
      kernels::scale(rows.row(r), options.scale, rows.keys);
    }
  }

  void cap(const Rows& rows) const {
    for (std::size_t r = 0; r < rows.count; ++r) {
      kernels::softcap(rows.row(r), options.softcap, rows.keys);
    }
  }

  void hide(const Rows& rows) const {
    const std::size_t masked = keys_values.length() - options.unmasked_keys;
    for (std::size_t r = 0; r < rows.count; ++r) {
      mask.apply(batch, head, rows.first + r, rows.row(r), std::min(rows.keys, masked));
    }
  }

  // output(first + r) = Σ_s pattern[r, s] · v(s)
  void gather(const Rows& rows) const {
    kernels::MatmulArgs args;
    args.a = rows.scores;
    args.a_stride = rows.stride;
    args.b = keys_values.values(batch, group);
    args.panel_stride = keys_values.value_panel_stride();
    args.c = output.row(batch, rows.first, head);
    args.c_stride = output.row_stride;
    args.m = rows.count;
    args.n = keys_values.sizes().value_dim;
    args.k = rows.keys;
    kernels::matmul(args);
  }
};

void weigh(const Rows& rows, EmptyRow empty_row) {
  for (std::size_t r = 0; r < rows.count && empty_row == EmptyRow::uniform; ++r) {
    make_empty_row_uniform(rows.row(r), rows.keys);
  }
  kernels::softmax(rows.scores, rows.count, rows.keys, rows.stride);
}

template <class Visit>
void for_each_head(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
                   const AttentionOptions& options, const MutableHeads& output, Visit visit) {
  const std::size_t per_group = queries.heads / keys_values.sizes().heads;
  parallel_for(queries.batch * queries.heads, [&](std::size_t task, std::size_t) {
    const std::size_t batch = task / queries.heads, head = task % queries.heads;
    visit(Head{queries, keys_values, mask, options, output, batch, head, head / per_group});
  });
}

// Block by block, each a task of its own; nothing of size T·S is ever in memory.
void fused(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
           const AttentionOptions& options, const MutableHeads& output, Arena& arena) {
  const std::size_t length = queries.length, keys = keys_values.length();
  const std::size_t per_group = queries.heads / keys_values.sizes().heads;
  const bool all_keys = options.unmasked_keys != 0 || options.empty_row == EmptyRow::uniform;
  const std::size_t rows_held = std::min(length, kQueryBlock);
  const std::size_t blocks = length == 0 ? 0 : (length - 1) / kQueryBlock + 1;
  const std::size_t tasks = queries.batch * queries.heads * blocks;
  const std::size_t work = rows_held * keys * (queries.width + output.width);
  const bool shared = num_threads() > 1 && tasks * work >= 2 * kLeastWork;
  float* const scores = arena.take({shared ? num_threads() : 1, rows_held, keys}).f32();
  const auto block = [&](std::size_t task, std::size_t worker) {
    const std::size_t first = task % blocks * kQueryBlock, of = task / blocks;
    const std::size_t batch = of / queries.heads, h = of % queries.heads;
    const Head head{queries, keys_values, mask, options, output, batch, h, h / per_group};
    const std::size_t count = std::min(kQueryBlock, length - first);
    const std::size_t seen = all_keys ? keys : mask.key_limit(first + count - 1, keys);
    const Rows rows{first, count, seen, scores + worker * rows_held * keys, keys};
    head.score(rows);
    if (options.softcap > 0.0f) head.cap(rows);
    head.hide(rows);
    weigh(rows, options.empty_row);
    head.gather(rows);
  };
  if (shared) return parallel_for(tasks, block);
  for (std::size_t task = 0; task < tasks; ++task) block(task, 0);
}

// The same steps over whole matrices, with the trace between them.
void traced(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
            const AttentionOptions& options, const MutableHeads& output, const Context& context) {
  constexpr std::string_view kLegend = "batch head query_pos key_pos";
  const std::size_t heads = queries.heads, length = queries.length, keys = keys_values.length();
  const MutableTensorView scores = context.arena.take({queries.batch, heads, length, keys});
  const auto each = [&](auto step) {
    for_each_head(queries, keys_values, mask, options, output, [&](const Head& head) {
      float* matrix = scores.f32() + (head.batch * heads + head.head) * length * keys;
      step(head, Rows{0, length, keys, matrix, keys});
    });
  };
  each([](const Head& head, const Rows& rows) { head.score(rows); });
  context.trace("hook_attn_scores_raw", scores, kLegend);
  if (options.softcap > 0.0f) {
    each([](const Head& head, const Rows& rows) { head.cap(rows); });
    context.trace("hook_attn_scores_softcapped", scores, kLegend);
  }
  each([](const Head& head, const Rows& rows) { head.hide(rows); });
  context.trace("hook_attn_scores", scores, kLegend);
  each([&](const Head&, const Rows& rows) { weigh(rows, options.empty_row); });
  context.trace("hook_pattern", scores, kLegend);
  each([](const Head& head, const Rows& rows) { head.gather(rows); });
}

void check(const Heads& queries, const PackedKeyValues& keys_values) {
  const PackedKeyValues::Sizes& sizes = keys_values.sizes();
  if (queries.batch != sizes.batch || queries.width != sizes.key_dim || sizes.heads == 0 ||
      queries.heads % sizes.heads != 0) {
    fail(ErrorCode::shape_mismatch, "attention: queries of batch ", queries.batch, ", ",
         queries.heads, " heads of size ", queries.width, " do not fit keys of batch ", sizes.batch,
         ", ", sizes.heads, " heads of size ", sizes.key_dim);
  }
}

}  // namespace

void attention(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
               const AttentionOptions& options, const MutableHeads& output,
               const Context& context) {
  check(queries, keys_values);
  mask.check("attention", queries.batch, queries.heads, queries.length,
             keys_values.length() - options.unmasked_keys);
  Arena::Frame frame(context.arena);
  const bool seen = context.trace.wants("hook_pattern") ||
                    context.trace.wants("hook_attn_scores") ||
                    context.trace.wants("hook_attn_scores_softcapped") ||
                    context.trace.wants("hook_attn_scores_raw");
  if (seen) {
    traced(queries, keys_values, mask, options, output, context);
  } else {
    fused(queries, keys_values, mask, options, output, context.arena);
  }
}

void make_empty_row_uniform(float* scores, std::size_t keys) {
  const bool empty = std::all_of(scores, scores + keys, [](float score) {
    return score == -std::numeric_limits<float>::infinity();
  });
  if (empty) std::fill_n(scores, keys, 0.0f);
}

PackedKeyValues packed_in(Arena& arena, const Heads& keys, const Heads& values) {
  const PackedKeyValues::Sizes sizes{keys.batch, keys.heads, keys.width, values.width};
  const std::size_t capacity = PackedKeyValues::rounded(keys.length);
  PackedKeyValues packed(sizes, capacity,
                         arena.take({PackedKeyValues::key_floats(sizes, capacity)}).f32(),
                         arena.take({PackedKeyValues::value_floats(sizes, capacity)}).f32());
  packed.append(keys, values);
  return packed;
}

}  // namespace clearformer
