#include "clearformer/layers/attention.h"

#include <algorithm>
#include <limits>

#include "clearformer/kernels/activations.h"
#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/online_softmax.h"
#include "clearformer/kernels/pairwise.h"
#include "clearformer/kernels/softmax.h"

namespace clearformer {

namespace {

constexpr std::string_view kHooks[] = {"hook_attn_scores_raw", "hook_attn_scores_softcapped",
                                       "hook_attn_scores", "hook_pattern"};
constexpr std::size_t kQueryBlock = 48;  // rows of scores in memory at a time
constexpr std::size_t kKeyBlock = 128;   // columns of them, a multiple of every panel's width

bool wants(const TraceScope& trace) {
  return std::any_of(std::begin(kHooks), std::end(kHooks),
                     [&](std::string_view hook) { return trace.wants(hook); });
}

bool edits(const TraceScope& trace) {
  return std::any_of(std::begin(kHooks), std::end(kHooks),
                     [&](std::string_view hook) { return trace.edits(hook); });
}

// A piece of one head's scores, in a buffer of its own stride.
struct Piece {
  std::size_t first_query, queries, first_key, keys;
  float* scores;
  std::size_t stride;

  float* row(std::size_t r) const { return scores + r * stride; }
};

// One head of one sequence, and the steps of attention on a piece of its scores.
struct Head {
  const Heads& queries;
  const PackedKeyValues& keys_values;
  const Mask& mask;
  const AttentionOptions& options;
  const MutableHeads& output;
  std::size_t batch, head, group;

  void dot(const Piece& piece) const {
    kernels::MatmulArgs args;
    args.a = queries.row(batch, piece.first_query, head);
    args.a_stride = queries.row_stride;
    args.b = keys_values.keys(batch, group, piece.first_key);
    args.panel_stride = keys_values.key_panel_stride();
    args.c = piece.scores;
    args.c_stride = piece.stride;
    args.m = piece.queries;
    args.n = piece.keys;
    args.k = keys_values.sizes().key_dim;
    args.epilogue.scale = options.scale;
    kernels::matmul(args);
  }

  void compare(const Piece& piece) const {
    kernels::PairwiseArgs args;
    args.queries = queries.row(batch, piece.first_query, head);
    args.query_stride = queries.row_stride;
    args.keys = keys_values.keys(batch, group, piece.first_key);
    args.panel_stride = keys_values.key_panel_stride();
    args.scores = piece.scores;
    args.score_stride = piece.stride;
    args.m = piece.queries;
    args.n = piece.keys;
    args.k = keys_values.sizes().key_dim;
    if (options.score == Score::additive) {
      kernels::additive_scores(args, options.additive_weights);
    } else {
      kernels::squared_distances(args);
    }
    for (std::size_t r = 0; r < piece.queries && options.scale != 1.0f; ++r) {
      kernels::scale(piece.row(r), options.scale, piece.keys);
    }
  }

  // scores[r, s] = scale · score(q(first_query + r), k(first_key + s))
  void score(const Piece& piece) const {
    options.score == Score::dot ? dot(piece) : compare(piece);
  }

  void cap(const Piece& piece) const {
    for (std::size_t r = 0; r < piece.queries; ++r) {
      kernels::softcap(piece.row(r), options.softcap, piece.keys);
    }
  }

  void hide(const Piece& piece) const {
    const std::size_t masked = keys_values.length() - options.unmasked_keys;
    const std::size_t last = piece.first_query + piece.queries - 1;
    if (piece.first_key >= masked) return;
    const std::size_t keys = std::min(piece.keys, masked - piece.first_key);
    if (mask.is_open(piece.first_query, last, piece.first_key, keys)) return;
    for (std::size_t r = 0; r < piece.queries; ++r) {
      mask.apply(batch, head, piece.first_query + r, piece.row(r), keys, piece.first_key);
    }
  }

  // output(first_query + r) = before + Σ_s pattern[r, s] · v(first_key + s)
  void gather(const Piece& piece, const float* before) const {
    kernels::MatmulArgs args;
    args.a = piece.scores;
    args.a_stride = piece.stride;
    args.b = keys_values.values(batch, group, piece.first_key);
    args.panel_stride = keys_values.value_panel_stride();
    args.c = output.row(batch, piece.first_query, head);
    args.c_stride = output.row_stride;
    args.m = piece.queries;
    args.n = keys_values.sizes().value_dim;
    args.k = piece.keys;
    args.epilogue.residual = before;
    args.epilogue.residual_stride = output.row_stride;
    kernels::matmul(args);
  }
};

void weigh(const Piece& piece, EmptyRow empty_row) {
  for (std::size_t r = 0; r < piece.queries && empty_row == EmptyRow::uniform; ++r) {
    make_empty_row_uniform(piece.row(r), piece.keys);
  }
  kernels::softmax(piece.scores, piece.queries, piece.keys, piece.stride);
}

template <class Visit>
void for_each_head(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
                   const AttentionOptions& options, const MutableHeads& output, Visit visit) {
  const std::size_t per_group = queries.heads / keys_values.sizes().heads;
  for (std::size_t batch = 0; batch < queries.batch; ++batch) {
    for (std::size_t head = 0; head < queries.heads; ++head) {
      visit(Head{queries, keys_values, mask, options, output, batch, head, head / per_group});
    }
  }
}

// What a block of queries is worked through with.
struct Workspace {
  float* scores;   // (queries, kKeyBlock)
  float* highest;  // (queries)
  float* total;    // (queries)
};

// The output of a query that sees no key and attends to all of them alike.
void average(const Head& head, std::size_t query, const Workspace& workspace) {
  const std::size_t keys = head.keys_values.length();
  float* output = head.output.row(head.batch, query, head.head);
  std::fill_n(workspace.scores, kKeyBlock, 1.0f);
  for (std::size_t key = 0; key < keys; key += kKeyBlock) {
    const std::size_t count = std::min(kKeyBlock, keys - key);
    head.gather({query, 1, key, count, workspace.scores, kKeyBlock}, key == 0 ? nullptr : output);
  }
  const std::size_t width = head.keys_values.sizes().value_dim;
  kernels::scale(output, 1.0f / static_cast<float>(keys), width);
}

// One block of queries against all keys it may see, a block of them after another.
void attend(const Head& head, std::size_t first, std::size_t count, const Workspace& workspace) {
  const PackedKeyValues& store = head.keys_values;
  const bool all = head.options.unmasked_keys != 0;
  const std::size_t end =
      all ? store.length() : head.mask.key_limit(first + count - 1, store.length());
  // Keys no query sees are left out by whole blocks: what a row adds up does not depend on the others.
  const std::size_t begin = std::min(head.mask.first_key(first), end) / kKeyBlock * kKeyBlock;
  float* output = head.output.row(head.batch, first, head.head);
  kernels::OnlineSoftmaxArgs softmax;
  softmax.scores = workspace.scores;
  softmax.score_stride = kKeyBlock;
  softmax.rows = count;
  softmax.highest = workspace.highest;
  softmax.total = workspace.total;
  softmax.output = output;
  softmax.output_stride = head.output.row_stride;
  softmax.width = store.sizes().value_dim;
  std::size_t key = begin;
  do {  // also once for no keys at all: the output becomes 0
    softmax.columns = std::min(kKeyBlock, end - key);
    const Piece piece{first, count, key, softmax.columns, workspace.scores, kKeyBlock};
    head.score(piece);
    if (head.options.softcap > 0.0f) head.cap(piece);
    head.hide(piece);
    key == begin ? kernels::begin_online_softmax(softmax)
                 : kernels::continue_online_softmax(softmax);
    head.gather(piece, key == begin ? nullptr : output);
    key += kKeyBlock;
  } while (key < end);
  kernels::end_online_softmax(softmax);
  if (head.options.empty_row == EmptyRow::zeros) return;
  for (std::size_t r = 0; r < count; ++r) {
    if (workspace.total[r] == 0.0f) average(head, first + r, workspace);
  }
}

void fused(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
           const AttentionOptions& options, const MutableHeads& output, Arena& arena) {
  Arena::Frame frame(arena);
  const std::size_t block = std::min(queries.length, kQueryBlock);
  const Workspace workspace{arena.take({block, kKeyBlock}).f32(), arena.take({block}).f32(),
                            arena.take({block}).f32()};
  for_each_head(queries, keys_values, mask, options, output, [&](const Head& head) {
    for (std::size_t first = 0; first < queries.length; first += kQueryBlock) {
      attend(head, first, std::min(kQueryBlock, queries.length - first), workspace);
    }
  });
}

// Whole matrices of scores, with the trace between the steps. Returns whether the output is still to
// be computed by fused(): it is unless the pattern it follows from is not the one fused() would see.
bool traced(const Heads& queries, const PackedKeyValues& keys_values, const Mask& mask,
            const AttentionOptions& options, const MutableHeads& output, const Context& context) {
  constexpr std::string_view kLegend = "batch head query_pos key_pos";
  Arena::Frame frame(context.arena);
  const std::size_t heads = queries.heads, length = queries.length, keys = keys_values.length();
  const MutableTensorView scores = context.arena.take({queries.batch, heads, length, keys});
  const auto each = [&](auto step) {
    for_each_head(queries, keys_values, mask, options, output, [&](const Head& head) {
      float* matrix = scores.f32() + (head.batch * heads + head.head) * length * keys;
      step(head, Piece{0, length, 0, keys, matrix, keys});
    });
  };
  each([](const Head& head, const Piece& piece) { head.score(piece); });
  context.trace("hook_attn_scores_raw", scores, kLegend);
  if (options.softcap > 0.0f) {
    each([](const Head& head, const Piece& piece) { head.cap(piece); });
    context.trace("hook_attn_scores_softcapped", scores, kLegend);
  }
  each([](const Head& head, const Piece& piece) { head.hide(piece); });
  context.trace("hook_attn_scores", scores, kLegend);
  each([&](const Head&, const Piece& piece) { weigh(piece, options.empty_row); });
  context.trace("hook_pattern", scores, kLegend);
  if (!edits(context.trace)) return true;
  each([](const Head& head, const Piece& piece) { head.gather(piece, nullptr); });
  return false;
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
  if (wants(context.trace) && !traced(queries, keys_values, mask, options, output, context)) {
    return;
  }
  fused(queries, keys_values, mask, options, output, context.arena);
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
