// Gradients through edits and read-outs of what single heads read and write, and of the feed-forward network's own input
// (hook_q_input, hook_k_input, hook_v_input, hook_result, hook_mlp_in), in every architecture that has them.
#include <gtest/gtest.h>

#include <cmath>

#include "support/architectures.h"
#include "support/closeness.h"
#include "support/numeric_gradient.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr const char* kApart[] = {"*hook_q_input", "*hook_k_input", "*hook_v_input", "*hook_result",
                                  "*hook_mlp_in"};

Tensor scaled(const Tensor& x, double factor) {
  Tensor y = x.clone();
  for (std::size_t i = 0; i < y.elements(); ++i) y.f32()[i] *= static_cast<float>(factor);
  return y;
}

double dot_of(const Tensor& a, const Tensor& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.elements(); ++i)
    sum += static_cast<double>(a.f32()[i]) * b.f32()[i];
  return sum;
}

// Random weights of the outputs, except at padding.
void add_outputs(Gradient& gradient, const ModelOutputs& outputs, const ModelInputs& inputs) {
  Random random(3);
  for (const auto& [name, value] : outputs.tensors) {
    Tensor weights = random.tensor(value.shape());
    for (const auto& mask : {inputs.attention_mask, inputs.decoder_attention_mask}) {
      if (!mask || value.shape().rank() < 2 || value.dim(0) != mask->dim(0) ||
          value.dim(1) != mask->dim(1)) {
        continue;
      }
      for (std::size_t i = 0; i < weights.elements(); ++i) {
        const std::size_t position = i / (weights.elements() / mask->elements());
        if (mask->as<std::uint8_t>()[position] == 0) weights.f32()[i] = 0.0f;
      }
    }
    gradient.add_output({name, std::move(weights)});
  }
}

// The values there; empty if the model has no such hook points.
std::vector<Trace::Captured> values_apart(Model& model, const ModelInputs& inputs) {
  Trace trace;
  for (const char* hook : kApart) trace.capture(hook);
  model.forward(inputs, &trace);
  return std::move(trace.captured());
}

Edit added(const std::string& hook, Tensor value) {
  Edit edit;
  edit.hook = hook;
  edit.op = Edit::Op::add;
  edit.value = std::move(value);
  return edit;
}

class GradientHeads : public ::testing::TestWithParam<const char*> {};

// An edit that changes nothing makes heads read inputs of their own: every gradient is the same but for rounding.
TEST_P(GradientHeads, ApartEqualThoseTogether) {
  each_checkpoint(GetParam(), [](Model& model, const ModelInputs& inputs) {
    const ModelOutputs outputs = model.forward(inputs);
    const std::vector<Trace::Captured> values = values_apart(model, inputs);
    Gradient together, apart;
    Trace none, edits;
    for (Gradient* gradient : {&together, &apart}) {
      add_outputs(*gradient, outputs, inputs);
      gradient->want_weights("*");
      gradient->want("*hook_resid_pre");
      for (const Trace::Captured& value : values) gradient->want(value.name);
    }
    for (const Trace::Captured& value : values) {
      edits.edit(added(value.name, Tensor::zeros({1})));
    }
    model.gradient(inputs, none, together);
    model.gradient(inputs, edits, apart);
    for (const Trace::Captured& entry : together.found()) {
      expect_close(entry.name, apart.at(entry.name), entry.value, kModelBound);
    }
    for (const Parameters::Listed& weight : model.parameters().list()) {
      expect_close(weight.name, model.weight_gradient(apart, weight.name),
                   model.weight_gradient(together, weight.name), Bound{1e-4, 0.0, 2e-5});
    }
  });
}

// Central differences of a metric that reads all of them, edited: with respect to the lowest stream and each edit's value.
TEST_P(GradientHeads, EqualCentralDifferences) {
  each_checkpoint(GetParam(), [](Model& model, const ModelInputs& inputs) {
    const ModelOutputs outputs = model.forward(inputs);
    const std::vector<Trace::Captured> values = values_apart(model, inputs);
    const auto lowest =
        std::find_if(model.hooks().begin(), model.hooks().end(),
                     [](const HookPoint& hook) { return hook.name.ends_with(".hook_resid_pre"); });
    ASSERT_NE(lowest, model.hooks().end());
    Trace of_stream;
    of_stream.capture(lowest->name);
    model.forward(inputs, &of_stream);
    Random random(7);
    const Tensor stream = scaled(random.tensor(of_stream.at(lowest->name).shape()), 0.1);
    std::vector<Tensor> pushes, directions;
    for (const Trace::Captured& value : values) {
      Shape shape = value.value.shape();
      shape[0] = shape[1] = 1;  // the same of all rows and positions, but not of all heads
      pushes.push_back(scaled(random.tensor(shape), 0.1));
      directions.push_back(scaled(random.tensor(shape), 0.1));
    }
    // The metric of a pass moved along the stream's direction and those of one edit; all gradients are left in `gradient`.
    const auto run = [&](double along_stream, std::size_t edit, double along_edit,
                         Gradient& gradient) {
      add_outputs(gradient, outputs, inputs);
      Random weights(11);
      Trace trace;
      trace.edit(added(lowest->name, scaled(stream, along_stream)));
      for (std::size_t i = 0; i < values.size(); ++i) {
        gradient.add_hook({values[i].name, weights.tensor({values[i].value.shape().back(0)})});
        Tensor push = pushes[i].clone();
        for (std::size_t at = 0; i == edit && at < push.elements(); ++at) {
          push.f32()[at] += static_cast<float>(along_edit * directions[i].f32()[at]);
        }
        trace.edit(added(values[i].name, std::move(push)));
      }
      model.gradient(inputs, trace, gradient);
      return gradient.value();
    };
    Gradient found;
    found.want(lowest->name);
    for (std::size_t i = 0; i < values.size(); ++i) found.want_edit(i + 1);
    const double metric = run(0.0, values.size(), 0.0, found);
    const auto check = [&](const std::string& name, double expected, double size, const auto& at) {
      // A kink of an activation may lie within a step: then a smaller one.
      double slope = 0.0, bound = 0.0;
      for (double step = 4e-3; step > 1e-4; step /= 4) {
        bound = 2e-2 * size + 64 * kRoundoff * (std::fabs(metric) + 100) / step;
        slope = (at(step) - at(-step)) / (2 * step);
        if (std::fabs(slope - expected) <= bound) return;
      }
      EXPECT_NEAR(slope, expected, bound) << name;
    };
    const auto length = [](const Tensor& x) { return std::sqrt(dot_of(x, x)); };
    const Tensor& of_lowest = found.at(lowest->name);
    check(lowest->name, dot_of(of_lowest, stream), length(of_lowest) * length(stream),
          [&](double step) {
            Gradient gradient;
            return run(step, values.size(), 0.0, gradient);
          });
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Tensor& of_edit = found.edit_value(i + 1);
      check(values[i].name, dot_of(of_edit, directions[i]), length(of_edit) * length(directions[i]),
            [&](double step) {
              Gradient gradient;
              return run(0.0, i, step, gradient);
            });
    }
    Gradient again;
    again.set_memory(Gradient::Memory::recompute);
    again.want(lowest->name);
    run(0.0, values.size(), 0.0, again);
    expect_same_bits(lowest->name, again.at(lowest->name), of_lowest);
  });
}

INSTANTIATE_TEST_SUITE_P(All, GradientHeads, ::testing::ValuesIn(kArchitectures),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace clearformer::test
