// Gradients of modules, against PyTorch's autograd in float64.

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/modules/module.h"
#include "clearformer/tensor/thread_pool.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/json_text.h"

namespace clearformer::test {
namespace {

// Sums over some dozen features, positions and layers, each with an error of its length; values and gradients are below
// ten, or compared with the largest.
constexpr Bound kGradientBound{gamma(400.0), 0.0, 8.0 * gamma(400.0)};

// A case's call: inputs that are neither masks nor d_output.
struct ModuleCall {
  std::unique_ptr<Module> module;
  std::map<std::string, Tensor> tensors;
  Module::Inputs inputs;

  explicit ModuleCall(const Case& example)
      : module(Module::make(example.op(), ConfigReader(options_text(example), example.op()),
                            example.state_dict())) {
    const Json& masks = example.member("masks");
    for (const std::string& name : example.inputs()) {
      if (name == "d_output") continue;
      if (const Json* kind = masks.find(name)) {
        inputs.masks.emplace(name, mask(example, name, kind->string()));
        continue;
      }
      const Tensor& given = example.input(name);
      tensors.emplace(name,
                      given.dtype() == DType::f32 ? given.clone() : example.int32_input(name));
    }
    for (const auto& [name, tensor] : tensors) inputs.tensors.emplace(name, tensor.view());
  }

  static Mask mask(const Case& example, const std::string& name, const std::string& kind) {
    if (kind == "causal") return Mask::causal();
    if (kind == "valid_lens") return Mask::valid_lens(example.int32_input(name));
    return Mask::ignore(example.uint8_input(name));
  }
};

struct Found {
  Tensor output;
  Module::Gradients inputs;
  std::map<std::string, Tensor> weights;
};

Found differentiated(const Case& example) {
  ModuleCall call(example);
  Gradient gradient;
  bool any = false;
  for (const std::string& name : example.outputs()) any = any || name.rfind("w.", 0) == 0;
  if (any) gradient.want_weights("*");
  Trace trace;
  call.module->differentiate(trace, gradient);
  Found found;
  found.output = call.module->forward(call.inputs, &trace);
  found.inputs = call.module->backward(call.inputs, example.input("d_output"), trace);
  for (const std::string& name : example.outputs()) {
    if (name.rfind("w.", 0) != 0) continue;
    found.weights.emplace(name, call.module->weight_gradient(gradient, name.substr(2)));
  }
  return found;
}

TEST(ModuleBackward, EqualsAutogradWithTheSameBitsForAnyThreads) {
  const Fixture fixture("gradients");
  for (const Case& example : fixture.cases()) {
    if (example.op() == "attention_pooling") continue;
    SCOPED_TRACE(example.name());
    const Found found = differentiated(example);
    expect_close("output", found.output, example.output("output"), kGradientBound);
    for (const std::string& name : example.outputs()) {
      if (name.rfind("d.", 0) == 0) {
        expect_close(name, found.inputs.at(name.substr(2)), example.output(name), kGradientBound);
      } else if (name.rfind("w.", 0) == 0) {
        expect_close(name, found.weights.at(name), example.output(name), kGradientBound);
      }
    }
    for (const std::size_t threads : {2u, 4u}) {
      set_num_threads(threads);
      const Found again = differentiated(example);
      for (const auto& [name, tensor] : found.inputs) {
        expect_same_bits(name, again.inputs.at(name), tensor);
      }
      for (const auto& [name, tensor] : found.weights) {
        expect_same_bits(name, again.weights.at(name), tensor);
      }
    }
    set_num_threads(1);
  }
}

// The gradient of every hook point: what a small step of its value changes.
TEST(ModuleBackward, OffersTheGradientOfEveryHookPoint) {
  const Fixture fixture("gradients");
  for (const char* name : {"additive", "multi_head", "ffn", "add_norm", "encoder_block",
                           "encoder_layer_pre_gelu", "decoder_layer_post"}) {
    SCOPED_TRACE(name);
    const Case& example = fixture.at(name);
    ModuleCall call(example);
    const Tensor& d = example.input("d_output");
    Trace plain;
    plain.capture("*");
    call.module->forward(call.inputs, &plain);
    Gradient gradient;
    gradient.want("*");
    Trace trace;
    call.module->differentiate(trace, gradient);
    call.module->forward(call.inputs, &trace);
    call.module->backward(call.inputs, d, trace);
    EXPECT_EQ(gradient.found().size(), plain.captured().size());
    for (const Trace::Captured& hook : plain.captured()) {
      const Tensor& found = gradient.at(hook.name);
      ASSERT_EQ(found.shape(), hook.value.shape()) << hook.name;
      // Towards the gradient's signs, by a step of 2^-7 of values near 1.
      const auto loss = [&](double step) {
        Trace edited;
        edited.edit(hook.name, [&](std::string_view, const MutableTensorView& value) {
          for (std::size_t i = 0; i < value.elements(); ++i) {
            const float sign = found.f32()[i] < 0.0f ? -1.0f : 1.0f;
            value.f32()[i] += static_cast<float>(step) * sign;
          }
        });
        const Tensor output = call.module->forward(call.inputs, &edited);
        double sum = 0.0;
        for (std::size_t i = 0; i < d.elements(); ++i) {
          sum += double{d.f32()[i]} * output.f32()[i];
        }
        return sum;
      };
      double expected = 0.0;
      for (std::size_t i = 0; i < found.elements(); ++i) expected += std::abs(found.f32()[i]);
      const double step = 0x1p-9;
      const double slope =
          (8.0 * (loss(step) - loss(-step)) - (loss(2 * step) - loss(-2 * step))) / (12.0 * step);
      EXPECT_NEAR(slope, expected, 2e-2 * expected + 2e-3) << hook.name;
    }
  }
}

// An edit of the pattern is part of what is differentiated: gradients of inputs and weights are those of the edited module.
TEST(ModuleBackward, EditsAreInForce) {
  const Fixture fixture("gradients");
  for (const char* name : {"additive", "multi_head", "multi_head_additive"}) {
    SCOPED_TRACE(name);
    const Case& example = fixture.at(name);
    ModuleCall call(example);
    const Tensor& d = example.input("d_output");
    const std::string hook =
        example.op() == "d2l.AdditiveAttention" ? "hook_pattern" : "attn.hook_pattern";
    const auto edit = [&](Trace& trace) {
      Edit scale;
      scale.hook = hook;
      scale.op = Edit::Op::scale;
      scale.value = Tensor({1});
      *scale.value.f32() = 0.5f;
      trace.edit(std::move(scale));
    };
    Gradient gradient;
    Trace trace;
    edit(trace);
    call.module->differentiate(trace, gradient);
    call.module->forward(call.inputs, &trace);
    const Module::Gradients found = call.module->backward(call.inputs, d, trace);
    for (auto& [input, tensor] : call.tensors) {
      const Tensor& of_input = found.at(input);
      double expected = 0.0;
      for (std::size_t i = 0; i < of_input.elements(); ++i) {
        expected += std::abs(of_input.f32()[i]);
      }
      const Tensor before = tensor.clone();
      const auto loss = [&, &tensor = tensor](double step) {
        for (std::size_t i = 0; i < tensor.elements(); ++i) {
          const float sign = of_input.f32()[i] < 0.0f ? -1.0f : 1.0f;
          tensor.f32()[i] = before.f32()[i] + static_cast<float>(step) * sign;
        }
        Trace edited;
        edit(edited);
        const Tensor output = call.module->forward(call.inputs, &edited);
        double sum = 0.0;
        for (std::size_t i = 0; i < d.elements(); ++i) {
          sum += double{d.f32()[i]} * output.f32()[i];
        }
        return sum;
      };
      const double slope = (loss(0x1p-8) - loss(-0x1p-8)) / 0x1p-7;
      EXPECT_NEAR(slope, expected, 1e-2 * expected) << input;
      loss(0.0);
    }
  }
}

TEST(ModuleBackward, RefusesWhatItCannotDo) {
  const Fixture fixture("gradients");
  const Case& example = fixture.at("linear");
  ModuleCall call(example);
  Trace trace;
  call.module->forward(call.inputs, &trace);
  expect_error(ErrorCode::invalid_argument, {"backward", "differentiated"},
               [&] { call.module->backward(call.inputs, example.input("d_output"), trace); });
  Gradient unknown;
  unknown.want_weights("wieght");
  expect_error(ErrorCode::invalid_argument, {"\"wieght\""},
               [&] { call.module->differentiate(trace, unknown); });
  Gradient gradient;
  call.module->differentiate(trace, gradient);
  call.module->forward(call.inputs, &trace);
  expect_error(ErrorCode::shape_mismatch, {"[2, 3, 5]", "[2, 3, 19]"},
               [&] { call.module->backward(call.inputs, example.input("input"), trace); });
  // What was kept is that of the forward pass's inputs: others would read beyond it.
  const Tensor longer = Tensor::zeros({300, 5}), d = Tensor::zeros({300, 19});
  call.module->differentiate(trace, gradient);
  call.module->forward(call.inputs, &trace);
  Module::Inputs others;
  others.tensors.emplace("input", longer.view());
  expect_error(ErrorCode::shape_mismatch, {"backward", "input float32[300, 5]", "[2, 3, 5]"},
               [&] { call.module->backward(others, d, trace); });
  expect_error(ErrorCode::invalid_argument, {"\"weight\"", "not asked"},
               [&] { call.module->weight_gradient(gradient, "weight"); });
  EXPECT_EQ(call.module->weight("weight").shape(), (Shape{19, 5}));
}

}  // namespace
}  // namespace clearformer::test
