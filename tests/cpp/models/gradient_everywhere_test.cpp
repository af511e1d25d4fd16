// Gradients at every hook point of every architecture: each value that the forward pass offers has a gradient, the
// gradient predicts what an edit of the value does to the metric, and seeking one changes no bit of the others.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "support/architectures.h"
#include "support/closeness.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

// Random weights of all outputs, except at padding: what a query without keys leaves may be 0, where a norm bends sharply.
void add_metric(Gradient& gradient, const ModelOutputs& outputs, const ModelInputs& inputs) {
  Random random(3);
  for (const auto& [name, value] : outputs.tensors) {
    Tensor weights = random.tensor(value.shape());
    for (const auto& mask : {inputs.attention_mask, inputs.decoder_attention_mask}) {
      const bool fits = mask && value.shape().rank() >= 2 && value.dim(0) == mask->dim(0) &&
                        value.dim(1) == mask->dim(1);
      for (std::size_t i = 0; fits && i < weights.elements(); ++i) {
        const std::size_t position = i / (weights.elements() / mask->elements());
        if (mask->as<std::uint8_t>()[position] == 0) weights.f32()[i] = 0.0f;
      }
    }
    gradient.add_output({name, std::move(weights)});
  }
}

double norm_of(const Tensor& x) {
  double squares = 0.0;
  for (std::size_t i = 0; i < x.elements(); ++i) squares += std::pow(x.f32()[i], 2);
  return std::sqrt(squares);
}

class GradientEverywhere : public ::testing::TestWithParam<const char*> {};

TEST_P(GradientEverywhere, EveryHookHasOne) {
  each_checkpoint(GetParam(), [](Model& model, const ModelInputs& inputs) {
    const ModelOutputs outputs = model.forward(inputs);
    Gradient gradient;
    add_metric(gradient, outputs, inputs);
    gradient.want("*");
    Trace trace;
    trace.capture("*");
    model.gradient(inputs, trace, gradient);
    std::map<std::string, const Trace::Captured*> found;
    for (const Trace::Captured& entry : gradient.found()) {
      EXPECT_TRUE(found.emplace(entry.name, &entry).second) << entry.name << " twice";
    }
    for (const Trace::Captured& entry : trace.captured()) {
      const auto other = found.find(entry.name);
      if (other == found.end()) {
        ADD_FAILURE() << entry.name << " has no gradient";
        continue;
      }
      EXPECT_EQ(other->second->legend, entry.legend) << entry.name;
      EXPECT_EQ(other->second->value.shape(), entry.value.shape()) << entry.name;
      found.erase(other);
    }
    for (const char* input : {"pixel_values", "input_features", "input_values"}) found.erase(input);
    for (const auto& [name, entry] : found) ADD_FAILURE() << name << " has only a gradient";
  });
}

// A step along a direction with parts along and across the gradient changes the metric by their product.
TEST_P(GradientEverywhere, PredictsWhatEditsDo) {
  each_checkpoint(GetParam(), [](Model& model, const ModelInputs& inputs) {
    const ModelOutputs outputs = model.forward(inputs);
    Gradient all;
    add_metric(all, outputs, inputs);
    all.want("*");
    Trace values;
    values.capture("*");
    model.gradient(inputs, values, all);
    Random random(5);
    // Of the metric: the outputs' roundings, some of a pass's operations, add up like random steps.
    double terms = 0.0;
    for (const ReadOut& term : all.outputs()) {
      for (const auto& [name, value] : outputs.tensors) {
        if (name != term.name) continue;
        for (std::size_t i = 0; i < value.elements(); ++i) {
          terms += std::pow(static_cast<double>(term.weights.f32()[i]) * value.f32()[i], 2);
        }
      }
    }
    const double rounding = 12 * kRoundoff * std::sqrt(terms);
    for (const Trace::Captured& hook : values.captured()) {
      const Tensor& gradient = all.at(hook.name);
      const double length = norm_of(gradient);
      if (length == 0.0) continue;
      double squares = 0.0, expected = 0.0;
      std::size_t finite = 0;
      for (std::size_t i = 0; i < gradient.elements(); ++i) {
        if (!std::isfinite(hook.value.f32()[i])) continue;
        squares += std::pow(hook.value.f32()[i], 2);
        ++finite;
      }
      const double size = std::sqrt(squares);  // the direction is as long as the value
      const double root = std::sqrt(static_cast<double>(finite));
      Tensor direction(gradient.shape());
      for (std::size_t i = 0; i < gradient.elements(); ++i) {
        const double along = gradient.f32()[i] / length;
        const double across = random.uniform() / root;
        direction.f32()[i] = static_cast<float>(size * (along + across));
        expected += static_cast<double>(direction.f32()[i]) * gradient.f32()[i];
      }
      const auto metric_at = [&](double step) {
        Edit edit;
        edit.hook = hook.name;
        edit.op = Edit::Op::add;
        edit.value = direction.clone();
        for (std::size_t i = 0; i < edit.value.elements(); ++i) {
          edit.value.f32()[i] *= static_cast<float>(step);
        }
        Trace trace;
        trace.edit(std::move(edit));
        ModelOutputs edited = model.forward(inputs, &trace);
        double metric = 0.0;
        for (const ReadOut& term : all.outputs()) {
          const Tensor& output = edited.at(term.name);
          for (std::size_t i = 0; i < output.elements(); ++i) {
            metric += static_cast<double>(term.weights.f32()[i]) * output.f32()[i];
          }
        }
        return metric;
      };
      // Central differences; if their error is too large, those of two steps, extrapolated. A kink of an activation may lie
      // between them: then smaller ones.
      const auto slope = [&](double step) {
        return (metric_at(step) - metric_at(-step)) / (2 * step);
      };
      double step = 2.5e-4, found = 0.0, bound = 0.0;
      for (int attempt = 0; attempt < 3; ++attempt, step /= 4) {
        bound = 0.04 * length * size + rounding / step;
        found = slope(step);
        if (std::fabs(found - expected) <= bound) break;
        found = (4 * found - slope(2 * step)) / 3;
        if (std::fabs(found - expected) <= bound) break;
      }
      EXPECT_NEAR(found, expected, bound) << hook.name;
    }
  });
}

TEST_P(GradientEverywhere, SeekingMoreChangesNoBit) {
  each_checkpoint(GetParam(), [](Model& model, const ModelInputs& inputs) {
    const ModelOutputs outputs = model.forward(inputs);
    Gradient alone, all;
    for (Gradient* gradient : {&alone, &all}) {
      add_metric(*gradient, outputs, inputs);
      gradient->want_weights("*");
    }
    all.want("*");
    Trace none, everything;
    everything.capture("*");
    ModelOutputs seen = model.gradient(inputs, none, alone);
    model.gradient(inputs, everything, all);
    for (auto& [name, value] : seen.tensors) {
      for (const auto& [other, expected] : outputs.tensors) {
        if (other == name) expect_same_bits(name, value, expected);
      }
    }
    for (const Parameters::Listed& weight : model.parameters().list()) {
      expect_same_bits(weight.name, model.weight_gradient(alone, weight.name),
                       model.weight_gradient(all, weight.name));
    }
    // Also where layers are computed once more.
    Gradient again;
    add_metric(again, outputs, inputs);
    again.set_memory(Gradient::Memory::recompute);
    again.want_weights("*");
    Trace replayed;
    model.gradient(inputs, replayed, again);
    EXPECT_EQ(again.value(), all.value());
    for (const Parameters::Listed& weight : model.parameters().list()) {
      expect_same_bits(weight.name, model.weight_gradient(again, weight.name),
                       model.weight_gradient(all, weight.name));
    }
    // Below the lowest place nothing is computed; the others are the same.
    const std::vector<HookPoint>& hooks = model.hooks();
    for (std::size_t i = 0; i < hooks.size(); i += 5) {
      if (is_on_request(hooks[i].name)) continue;
      Gradient single;
      add_metric(single, outputs, inputs);
      single.want(hooks[i].name);
      single.set_memory(Gradient::Memory::recompute);
      Trace trace;
      model.gradient(inputs, trace, single);
      ASSERT_EQ(single.found().size(), 1u);
      expect_same_bits(hooks[i].name, single.at(hooks[i].name), all.at(hooks[i].name));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, GradientEverywhere, ::testing::ValuesIn(kArchitectures),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace clearformer::test
