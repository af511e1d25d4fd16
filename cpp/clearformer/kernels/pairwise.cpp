#include "clearformer/kernels/pairwise.h"

#include "clearformer/simd/loops.h"
#include "clearformer/simd/math.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {

constexpr std::size_t kKeysWidth = kTileVectors * kLanes;

// scores(m, n) = Σ_k term(k, query(m, k), key(n, k)), one register of keys at a time.
template <class Term>
inline void pairwise(const PairwiseArgs& args, Term term) {
  for (std::size_t m = 0; m < args.m; ++m) {
    const float* query = args.queries + m * args.query_stride;
    float* scores = args.scores + m * args.score_stride;
    for (std::size_t n = 0; n < args.n; n += kLanes) {
      const float* keys = args.keys + n / kKeysWidth * args.panel_stride + n % kKeysWidth;
      Vec sum(0.0f);
      for (std::size_t k = 0; k < args.k; ++k) {
        sum += term(k, Vec(query[k]), load(keys + k * kKeysWidth));
      }
      if (n + kLanes <= args.n) {
        store(scores + n, sum);
      } else {
        store_partial(scores + n, args.n - n, sum);
      }
    }
  }
}

}  // namespace

void additive_scores(const PairwiseArgs& args) {
  pairwise(args, [weights = args.weights, tanh = Tanh()](std::size_t k, Vec query, Vec key) {
    return Vec(weights[k]) * tanh(query + key);
  });
}

void squared_distances(const PairwiseArgs& args) {
  pairwise(args, [](std::size_t, Vec query, Vec key) {
    const Vec difference = query - key;
    return difference * difference;
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
