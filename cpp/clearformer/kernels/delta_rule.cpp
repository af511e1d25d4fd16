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

void delta_rule_backward(const DeltaGradient& of) {
  const Vec decay(of.decay), beta(of.beta);
  Vec d_beta(0.0f), d_decay(0.0f);
  for_each(of.values, [&](std::size_t column, auto lanes) {
    const Vec d_out = load(of.d_out + column, lanes);
    Vec read(0.0f), d_change(0.0f);
    for (std::size_t i = 0, at = column; i < of.keys; ++i, at += of.values) {
      const Vec k(of.k[i]);
      read += k * load(of.state + at, lanes);
      d_change += k * (load(of.d_state + at, lanes) + Vec(of.q[i]) * d_out);
    }
    const Vec rest = load(of.v + column, lanes) - read * decay;
    store(of.change + column, lanes, rest * beta);
    store(of.dv + column, lanes, d_change * beta);
    d_beta += d_change * rest;
  });
  *of.d_beta = sum(d_beta);
  for (std::size_t i = 0; i < of.keys; ++i) {
    const Vec q(of.q[i]), k(of.k[i]);
    const float* const state = of.state + i * of.values;
    float* const d_state = of.d_state + i * of.values;
    Vec dq(0.0f), dk(0.0f);
    for_each(of.values, [&](std::size_t column, auto lanes) {
      const Vec before = load(state + column, lanes), change = load(of.change + column, lanes);
      const Vec dv = load(of.dv + column, lanes), d_out = load(of.d_out + column, lanes);
      const Vec d_after = load(d_state + column, lanes) + q * d_out, decayed = before * decay;
      const Vec d_decayed = d_after - k * dv;
      dq += (decayed + k * change) * d_out;
      dk += d_after * change - decayed * dv;
      d_decay += d_decayed * before;
      store(d_state + column, lanes, d_decayed * decay);
    });
    of.dq[i] = sum(dq);
    of.dk[i] = sum(dk);
  }
  *of.d_decay = sum(d_decay);
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
