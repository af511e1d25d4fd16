#include "clearformer/kernels/optimizer_steps.h"

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

void adamw_step(const AdamWStep& args) {
  const Vec decay(args.decay), mean_share(args.mean_share), step(args.step), root(args.root);
  const Vec square_keep(args.square_keep), square_share(args.square_share), eps(args.eps);
  for_each(args.count, [&](std::size_t i, auto lanes) {
    const Vec g = load(args.gradient + i, lanes), before = load(args.mean + i, lanes);
    const Vec mean = before + (g - before) * mean_share;
    const Vec square = square_keep * load(args.square + i, lanes) + square_share * g * g;
    store(args.mean + i, lanes, mean);
    store(args.square + i, lanes, square);
    const Vec change = divide(mean, divide(square_root(square), root) + eps);
    store(args.weight + i, lanes, load(args.weight + i, lanes) * decay - step * change);
  });
}

void sgd_step(const SgdStep& args) {
  const Vec rate(args.rate), decay(args.weight_decay), keep(args.keep), share(args.share);
  for_each(args.count, [&](std::size_t i, auto lanes) {
    const Vec weight = load(args.weight + i, lanes);
    Vec g = load(args.gradient + i, lanes) + decay * weight;
    if (args.velocity != nullptr) {
      const Vec velocity = keep * load(args.velocity + i, lanes) + share * g;
      store(args.velocity + i, lanes, velocity);
      g = args.nesterov ? g + keep * velocity : velocity;
    }
    store(args.weight + i, lanes, weight - rate * g);
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
