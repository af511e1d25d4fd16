#include "clearformer/kernels/delta_rule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/closeness.h"
#include "support/differences.h"
#include "support/guarded.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kPositions = 5;

// A head of one batch whose rows of q, k, v and out are side by side, without others between them.
struct GivenHead {
  GivenHead(std::size_t keys, std::size_t values, Random& random)
      : keys(keys),
        values(values),
        q(random.list(kPositions * keys)),
        k(random.list(kPositions * keys)),
        v(random.list(kPositions * values)),
        decay(random.list(kPositions)),
        beta(random.list(kPositions)),
        state(random.list(keys * values)) {
    for (float& number : decay) number = 0.5f + 0.4f * std::tanh(number);
  }

  // The formula as loops, in doubles, with bounds of the rounding errors in magnitude.
  void run_naive() {
    expected.assign(kPositions * values, 0.0);
    bounds = expected;
    std::vector<double> s(state.begin(), state.end()), size(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) size[i] = std::abs(s[i]);
    for (std::size_t t = 0; t < kPositions; ++t) {
      for (std::size_t column = 0; column < values; ++column) {
        double read = 0.0, read_size = 0.0;
        for (std::size_t i = 0; i < keys; ++i) {
          read += decay[t] * s[i * values + column] * k[t * keys + i];
          read_size += decay[t] * size[i * values + column] * std::abs(k[t * keys + i]);
        }
        const double change = beta[t] * (v[t * values + column] - read);
        const double change_size =
            std::abs(beta[t]) * (std::abs(v[t * values + column]) + read_size);
        for (std::size_t i = 0; i < keys; ++i) {
          double &now = s[i * values + column], &now_size = size[i * values + column];
          now = decay[t] * now + k[t * keys + i] * change;
          now_size = decay[t] * now_size + std::abs(k[t * keys + i]) * change_size;
          expected[t * values + column] += now * q[t * keys + i];
          bounds[t * values + column] += now_size * std::abs(q[t * keys + i]);
        }
      }
    }
    last.assign(s.begin(), s.end());
    last_bounds = size;
    const double roundings = gamma(static_cast<double>(kPositions * (2 * keys + 6)));
    for (std::vector<double>* all : {&bounds, &last_bounds}) {
      for (double& bound : *all) bound *= roundings;
    }
  }

  std::size_t keys, values;
  std::vector<float> q, k, v, decay, beta, state;
  std::vector<double> expected, bounds, last, last_bounds;
};

TEST(DeltaRule, EqualsTheNaiveTwinForAllSizes) {
  Random random(1);
  for (std::size_t values = 0; values <= 35; ++values) {
    for (const std::size_t keys : {1u, 2u, 5u, 16u}) {
      SCOPED_TRACE(concat(keys, " keys, ", values, " values"));
      GivenHead head(keys, values, random);
      head.run_naive();
      Guarded state(head.state, values % 4), out(kPositions * values, 3);
      kernels::delta_rule(
          {head.q.data(), head.k.data(), head.v.data(), head.decay.data(), head.beta.data(),
           state.data(), out.data(), keys, values, values, keys, values, 1},
          kPositions);
      EXPECT_TRUE(state.intact());
      EXPECT_TRUE(out.intact());
      expect_close("out", out.values(), head.expected, head.bounds);
      expect_close("state", state.values(), head.last, head.last_bounds);
    }
  }
}

// Columns, and positions, of several calls: the bits of one.
TEST(DeltaRule, HasTheSameBitsInParts) {
  Random random(2);
  constexpr std::size_t kKeys = 7, kValues = 21;
  const GivenHead head(kKeys, kValues, random);
  const auto run = [&](std::size_t columns, std::size_t positions) {
    std::vector<float> state = head.state, out(kPositions * kValues);
    for (std::size_t t = 0; t < kPositions; t += positions) {
      for (std::size_t column = 0; column < kValues; column += columns) {
        kernels::delta_rule(
            {head.q.data() + t * kKeys, head.k.data() + t * kKeys,
             head.v.data() + t * kValues + column, head.decay.data() + t, head.beta.data() + t,
             state.data() + column, out.data() + t * kValues + column, kKeys, kValues,
             std::min(columns, kValues - column), kKeys, kValues, 1},
            std::min(positions, kPositions - t));
      }
    }
    out.insert(out.end(), state.begin(), state.end());
    return out;
  };
  const std::vector<float> whole = run(kValues, kPositions);
  for (const std::size_t columns : {1u, 4u, 16u}) {
    for (const std::size_t positions : {1u, 2u, 5u}) EXPECT_EQ(run(columns, positions), whole);
  }
}

// One position as loops: Σ d_out·out + Σ d_state·S of the numbers one after another, q, k, v, S before, decay and β. With
// `sizes` all numbers count by their magnitude: the slopes are then the sums of the magnitudes of all that the slopes sum.
double loss_of_position(std::vector<double> x, std::size_t keys, std::size_t values,
                        std::vector<double> d_out, std::vector<double> d_state, bool sizes) {
  for (auto* all : {&x, &d_out, &d_state}) {
    for (double& number : *all) number = sizes ? std::abs(number) : number;
  }
  const double *const q = x.data(), *const k = q + keys, *const v = k + keys, *const s = v + values;
  const double decay = s[keys * values], beta = s[keys * values + 1];
  double loss = 0.0;
  for (std::size_t column = 0; column < values; ++column) {
    double read = 0.0;
    for (std::size_t i = 0; i < keys; ++i) read += decay * s[i * values + column] * k[i];
    for (std::size_t i = 0; i < keys; ++i) {
      const double now =
          decay * s[i * values + column] + k[i] * beta * (v[column] + (sizes ? read : -read));
      loss += now * (d_out[column] * q[i] + d_state[i * values + column]);
    }
  }
  return loss;
}

TEST(DeltaRule, HasTheGradientsOfTheNaiveTwin) {
  Random random(3);
  for (const std::size_t values : {1u, 3u, 4u, 8u, 17u, 35u}) {
    for (const std::size_t keys : {1u, 2u, 5u}) {
      SCOPED_TRACE(concat(keys, " keys, ", values, " values"));
      const GivenHead head(keys, values, random);
      const auto d_out = random.list(values), d_last = random.list(keys * values);
      std::vector<double> x;
      for (const auto* part : {&head.q, &head.k})
        x.insert(x.end(), part->begin(), part->begin() + static_cast<std::ptrdiff_t>(keys));
      x.insert(x.end(), head.v.begin(), head.v.begin() + static_cast<std::ptrdiff_t>(values));
      x.insert(x.end(), head.state.begin(), head.state.end());
      x.push_back(head.decay[0]);
      x.push_back(head.beta[0]);
      const std::vector<double> of_out(d_out.begin(), d_out.end());
      const std::vector<double> of_state(d_last.begin(), d_last.end());
      const auto slopes = [&](bool sizes) {
        for (double& number : x) number = sizes ? std::abs(number) : number;
        return differences(
            [&](const std::vector<double>& at) {
              return loss_of_position(at, keys, values, of_out, of_state, sizes);
            },
            x);
      };
      const auto expected = slopes(false), magnitudes = slopes(true);
      Guarded dq(std::vector<float>(keys), 1), dk(std::vector<float>(keys), 2);
      Guarded dv(std::vector<float>(values), 3), d_state(d_last, 1);
      Guarded change(std::vector<float>(values), 2);
      float d_decay = 0.0f, d_beta = 0.0f;
      kernels::delta_rule_backward({head.q.data(), head.k.data(), head.v.data(), head.decay[0],
                                    head.beta[0], head.state.data(), d_out.data(), d_state.data(),
                                    dq.data(), dk.data(), dv.data(), &d_decay, &d_beta,
                                    change.data(), keys, values});
      std::vector<float> found;
      for (const Guarded* part : {&dq, &dk, &dv, &d_state}) {
        EXPECT_TRUE(part->intact());
        const auto numbers = part->values();
        found.insert(found.end(), numbers.begin(), numbers.end());
      }
      EXPECT_TRUE(change.intact());
      found.push_back(d_decay);
      found.push_back(d_beta);
      const double roundings = gamma(static_cast<double>(2 * keys + values + 8));
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], roundings * magnitudes[i] + 1e-9) << i;
      }
    }
  }
}

}  // namespace
}  // namespace clearformer::test
