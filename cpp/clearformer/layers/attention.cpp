#include "clearformer/layers/attention.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/online_softmax.h"
#include "clearformer/kernels/softmax.h"
#include "clearformer/layers/attention_head.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

constexpr std::string_view kHooks[] = {"hook_attn_scores_raw", "hook_attn_scores_softcapped",
                                       "hook_attn_scores", "hook_pattern"};

bool wants(const TraceScope& trace) {
  return std::any_of(std::begin(kHooks), std::end(kHooks),
                     [&](std::string_view hook) { return trace.wants(hook); });
}

// `empty` (rows) receives which rows got uniform weights.
void weigh(const ScoreTile& tile, EmptyRow empty_row, std::uint8_t* empty) {
  for (std::size_t r = 0; r < tile.rows && empty_row == EmptyRow::uniform; ++r) {
    empty[r] = make_empty_row_uniform(tile.row(r), tile.keys) ? 1 : 0;
  }
  kernels::softmax(tile.scores, tile.rows, tile.keys, tile.stride);
}

// Floats of one widened panel, when at most `keys` keys are read at a time.
std::size_t widened_floats(const PackedKeyValues& keys_values, std::size_t keys) {
  if (keys_values.format() == CacheFormat::f32) return 0;
  return std::max(keys_values.sizes().key_dim, keys) * kernels::panel_width();
}

template <class Visit>
void for_each_head(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
                   const AttentionOptions& options, const MutableHeads& output, Arena& arena,
                   Visit visit) {
  Arena::Frame frame(arena);
  const std::size_t per_group = queries.heads / keys_values.sizes().heads;
  const std::size_t floats = widened_floats(keys_values, keys_values.length());
  const std::size_t workers = num_threads();
  float* const wide = floats == 0 ? nullptr : arena.take({workers, floats}).f32();
  parallel_for(queries.batch * queries.heads, workers, [&](std::size_t task, std::size_t worker) {
    const std::size_t batch = task / queries.heads, head = task % queries.heads;
    visit(AttentionHead{queries, keys_values, mask, options, output, batch, head, head / per_group,
                        wide + worker * floats});
  });
}

// Per-worker buffers for one block of rows.
struct Workspace {
  float* scores;   // (rows, kKeyBlock)
  float* highest;  // (rows)
  float* total;    // (rows)
};

// The output of a query whose keys are all masked, with uniform weights.
void average(const AttentionHead& head, std::size_t query, const Workspace& workspace) {
  const std::size_t keys = head.keys_values.length();
  float* output = head.output.row(head.batch, query, head.head);
  for (std::size_t key = 0; key < keys; key += kKeyBlock) {
    const std::size_t count = std::min(kKeyBlock, keys - key);
    std::fill_n(workspace.scores, count, 1.0f);
    head.gather({query, 1, key, count, workspace.scores, kKeyBlock}, key == 0 ? nullptr : output);
  }
  const std::size_t width = head.keys_values.sizes().value_dim;
  kernels::scale(output, 1.0f / static_cast<float>(keys), width);
}

// The highest score and 1 / total of each row; zeros where all keys are masked.
void save_softmax(const AttentionHead& head, std::size_t first, std::size_t count,
                  const Workspace& workspace) {
  const std::size_t length = head.queries.length, heads = head.queries.heads;
  const bool of_heads = head.rows_are == RowsAre::heads;
  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t row = ((head.batch * heads) + head.head + (of_heads ? r : 0)) * length +
                            first + (of_heads ? 0 : r);
    const bool empty = workspace.total[r] == 0.0f;
    head.softmax[2 * row] = empty ? 0.0f : workspace.highest[r];
    head.softmax[2 * row + 1] = empty ? 0.0f : 1.0f / workspace.total[r];
  }
}

// One block of rows against all keys it may attend to, block by block.
void attend(const AttentionHead& head, std::size_t first, std::size_t count,
            const Workspace& workspace) {
  const PackedKeyValues& store = head.keys_values;
  const bool heads = head.rows_are == RowsAre::heads;
  const auto [begin, end] = head.key_blocks(first, first + (heads ? 0 : count - 1));
  float* output = head.output.row(head.batch, first, head.head);
  kernels::OnlineSoftmaxArgs softmax;
  softmax.scores = workspace.scores;
  softmax.score_stride = kKeyBlock;
  softmax.rows = count;
  softmax.highest = workspace.highest;
  softmax.total = workspace.total;
  softmax.output = output;
  softmax.output_stride = head.stride(head.output);
  softmax.width = store.sizes().value_dim;
  std::size_t key = begin;
  do {  // at least once: without keys the output is 0
    softmax.columns = std::min(kKeyBlock, end - key);
    const ScoreTile tile{first, count, key, softmax.columns, workspace.scores, kKeyBlock};
    head.score(tile);
    if (head.options.softcap > 0.0f) head.cap(tile);
    head.hide(tile);
    key == begin ? kernels::begin_online_softmax(softmax)
                 : kernels::continue_online_softmax(softmax);
    head.gather(tile, key == begin ? nullptr : output);
    key += kKeyBlock;
  } while (key < end);
  kernels::end_online_softmax(softmax);
  if (head.softmax != nullptr) save_softmax(head, first, count, workspace);
  if (head.options.empty_row == EmptyRow::zeros || store.length() == 0) return;
  for (std::size_t r = 0; r < count; ++r) {
    if (workspace.total[r] != 0.0f) continue;
    AttentionHead one = head;
    if (heads) one.head += r;
    average(one, heads ? first : first + r, workspace);
  }
}

// Fused attention in blocks, one task each; nothing of size T·S is ever materialised.
void fused(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
           const AttentionOptions& options, const MutableHeads& output, Arena& arena,
           float* softmax) {
  Arena::Frame frame(arena);
  const std::size_t length = queries.length, heads = queries.heads;
  const std::size_t groups = keys_values.sizes().heads, per_group = heads / groups;
  const std::size_t work = keys_values.length() * (queries.width + output.width);
  const bool shared = queries.batch * heads * length * work >= 2 * kLeastWork;
  const std::size_t workers = shared ? num_threads() : 1;
  // Heads share a task if enough tasks remain for the threads.
  const bool together = length == 1 && per_group > 1 && per_group <= kQueryBlock &&
                        (workers == 1 || queries.batch * groups >= workers);
  const std::size_t held = together ? per_group : std::min(length, kQueryBlock);
  const std::size_t blocks = length == 0 ? 0 : (length - 1) / kQueryBlock + 1;
  const std::size_t apart = together ? groups : heads;  // tasks a sequence and block
  const std::size_t scores = held * (kKeyBlock + 2);
  const std::size_t floats = scores + widened_floats(keys_values, kKeyBlock);
  float* const memory = arena.take({workers, floats}).f32();
  const auto block = [&](std::size_t task, std::size_t worker) {
    const std::size_t first = task % blocks * kQueryBlock, of = task / blocks;
    const std::size_t batch = of / apart, h = of % apart * (heads / apart);
    float* const own = memory + worker * floats;
    const Workspace workspace{own, own + held * kKeyBlock, own + held * (kKeyBlock + 1)};
    const AttentionHead head{queries,
                             keys_values,
                             mask,
                             options,
                             output,
                             batch,
                             h,
                             h / per_group,
                             own + scores,
                             together ? RowsAre::heads : RowsAre::queries,
                             softmax};
    attend(head, first, together ? per_group : std::min(kQueryBlock, length - first), workspace);
  };
  parallel_for(queries.batch * apart * blocks, workers, block);
}

// Materialised matrices of scores, (B, H, T, S), for the trace, and which of their rows it has changed.
class Watched {
 public:
  Watched(const MutableTensorView& scores, const AttentionOptions& options, const Context& context)
      : scores_(scores),
        shown_(options.headless ? scores.reshaped({scores.dim(0), scores.dim(2), scores.dim(3)})
                                : scores),
        legend_(options.headless ? "batch query_pos key_pos" : "batch head query_pos key_pos"),
        context_(context),
        changed_(scores.shape().outer(1), false) {}

  float* matrix(std::size_t of) const {
    return scores_.f32() + of * scores_.dim(2) * scores_.dim(3);
  }
  /// Calls visit(first, end) for the runs of changed rows of a matrix.
  template <class Visit>
  void each_changed(std::size_t of, Visit visit) const {
    const std::size_t length = scores_.dim(2);
    const auto row = changed_.begin() + static_cast<std::ptrdiff_t>(of * length);
    const auto last = row + static_cast<std::ptrdiff_t>(length);
    for (auto first = row; (first = std::find(first, last, true)) != last;) {
      const auto end = std::find(first, last, false);
      visit(static_cast<std::size_t>(first - row), static_cast<std::size_t>(end - row));
      first = end;
    }
  }

  /// For the backward pass.
  void keep(std::string_view leaf) const { context_.trace.keep(leaf, scores_); }

  void offer(std::string_view hook) {
    if (!context_.trace.edits(hook)) return context_.trace(hook, shown_, legend_);
    const Tensor before = Tensor::copy_of(scores_);
    context_.trace(hook, shown_, legend_);
    const std::size_t keys = scores_.dim(3);
    for (std::size_t row = 0; row < changed_.size(); ++row) {
      const float *was = before.f32() + row * keys, *now = scores_.f32() + row * keys;
      if (std::memcmp(was, now, keys * sizeof(float)) != 0) changed_[row] = true;
    }
  }

 private:
  MutableTensorView scores_, shown_;
  std::string_view legend_;
  const Context& context_;
  std::vector<std::uint8_t> changed_;
};

// The same with the trace between the steps. The output is that of fused(), bit for bit, except for queries whose
// scores or pattern were edited.
void traced(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
            const AttentionOptions& options, const MutableHeads& output, const Context& context,
            float* softmax) {
  const std::size_t heads = queries.heads, length = queries.length, keys = keys_values.length();
  Watched watched(context.arena.take({queries.batch, heads, length, keys}), options, context);
  const auto each = [&](auto step) {
    const auto visit = [&](const AttentionHead& head) {
      const std::size_t of = head.batch * heads + head.head;
      step(head, ScoreTile{0, length, 0, keys, watched.matrix(of), keys}, of);
    };
    for_each_head(queries, keys_values, mask, options, output, context.arena, visit);
  };
  // A gradient that reads or changes scores or pattern is computed from them.
  const bool keeps = context.trace.keeps() &&
                     std::any_of(std::begin(kHooks), std::end(kHooks),
                                 [&](auto hook) { return context.trace.concerns_back(hook); });
  each([](const AttentionHead& head, const ScoreTile& tile, std::size_t) { head.score(tile); });
  watched.offer("hook_attn_scores_raw");
  if (options.softcap > 0.0f) {
    each([](const AttentionHead& head, const ScoreTile& tile, std::size_t) { head.cap(tile); });
    if (keeps) watched.keep("capped");
    watched.offer("hook_attn_scores_softcapped");
  }
  each([](const AttentionHead& head, const ScoreTile& tile, std::size_t) { head.hide(tile); });
  watched.offer("hook_attn_scores");
  const MutableTensorView empty = context.arena.take({queries.batch, heads, length}, DType::u8);
  each([&](const AttentionHead&, const ScoreTile& tile, std::size_t of) {
    weigh(tile, options.empty_row, empty.as<std::uint8_t>() + of * length);
  });
  if (keeps && options.empty_row == EmptyRow::uniform) context.trace.keep("empty", empty);
  if (keeps && context.trace.edits("hook_pattern")) watched.keep("given_pattern");
  watched.offer("hook_pattern");
  if (keeps) watched.keep("pattern");
  fused(queries, keys_values, mask, options, output, context.arena, softmax);
  each([&](const AttentionHead& head, const ScoreTile& tile, std::size_t of) {
    watched.each_changed(of, [&](std::size_t first, std::size_t end) {
      head.gather({first, end - first, 0, keys, tile.row(first), keys}, nullptr);
    });
  });
}

void check(const Heads& queries, const PackedKeyValues& keys_values,
           const AttentionOptions& options) {
  const PackedKeyValues::Sizes& sizes = keys_values.sizes();
  if (options.score.pairwise != nullptr && keys_values.format() != CacheFormat::f32) {
    fail(ErrorCode::unsupported, "attention: scores that compare keys one by one need them in fp32",
         ", these are in ", to_string(keys_values.format()));
  }
  if (queries.batch != sizes.batch || queries.width != sizes.key_dim || sizes.heads == 0 ||
      queries.heads % sizes.heads != 0) {
    fail(ErrorCode::shape_mismatch, "attention: queries of batch ", queries.batch, ", ",
         queries.heads, " heads of size ", queries.width, " do not fit keys of batch ", sizes.batch,
         ", ", sizes.heads, " heads of size ", sizes.key_dim);
  }
}

}  // namespace

void attention(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
               const AttentionOptions& options, const MutableHeads& output, const Context& context,
               float* softmax) {
  check(queries, keys_values, options);
  mask.check("attention", queries.batch, queries.heads, queries.length,
             keys_values.length() - options.unmasked_keys);
  Arena::Frame frame(context.arena);
  if (wants(context.trace)) {
    traced(queries, keys_values, mask, options, output, context, softmax);
  } else {
    fused(queries, keys_values, mask, options, output, context.arena, softmax);
  }
}

bool make_empty_row_uniform(float* scores, std::size_t keys) {
  const bool empty = std::all_of(scores, scores + keys, [](float score) {
    return score == -std::numeric_limits<float>::infinity();
  });
  if (empty) std::fill_n(scores, keys, 0.0f);
  return empty;
}

PackedKeyValues packed_in(Arena& arena, const Heads& keys, const Heads& values,
                          CacheFormat format) {
  const PackedKeyValues::Sizes sizes{keys.batch, keys.heads, keys.width, values.width};
  const std::size_t capacity = PackedKeyValues::rounded(keys.length);
  const auto room = [&](std::size_t bytes) { return arena.take({bytes}, DType::u8).data(); };
  PackedKeyValues packed(sizes, format, capacity,
                         room(PackedKeyValues::key_bytes(sizes, format, capacity)),
                         room(PackedKeyValues::value_bytes(sizes, format, capacity)));
  packed.append(keys, values);
  return packed;
}

}  // namespace clearformer
