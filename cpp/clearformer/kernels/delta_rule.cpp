#include "clearformer/kernels/delta_rule.h"

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

void delta_rule(const DeltaHead& head, std::size_t positions) {
  for_each(head.columns, [&](std::size_t column, auto lanes) {
    const float *q = head.q, *k = head.k;
    for (std::size_t position = 0; position < positions; ++position) {
      const Vec decay(head.decay[position * head.number_step]);
      const Vec beta(head.beta[position * head.number_step]);
      const std::size_t at = position * head.value_step + column;
      Vec read(0.0f), sum(0.0f);
      float* row = head.state + column;
      for (std::size_t i = 0; i < head.keys; ++i, row += head.values) {
        read += Vec(k[i]) * load(row, lanes);
      }
      const Vec change = (load(head.v + at, lanes) - read * decay) * beta;
      row = head.state + column;
      for (std::size_t i = 0; i < head.keys; ++i, row += head.values) {
        const Vec now = load(row, lanes) * decay + Vec(k[i]) * change;
        store(row, lanes, now);
        sum += Vec(q[i]) * now;
      }
      store(head.out + at, lanes, sum);
      q += head.key_step;
      k += head.key_step;
    }
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
