// Gradients of all architectures against autograd through transformers in float64: of hidden states, attention maps,
// inputs and every weight. The bound of an element is a multiple of the error of transformers' own float32 run, plus
// 2^-24 times the roundings of a pass, of the largest element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/architectures.h"
#include "support/closeness.h"

namespace clearformer::test {
namespace {

// Our name for a hidden state or an attention map of transformers, "encoder_attentions.1"; else the name itself.
std::string hook_of(const Model& model, const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return name;
  for (const auto& lists : {model.hidden_states(), model.attentions()}) {
    for (const OutputList& list : lists) {
      if (list.name == name.substr(0, dot)) return list.hooks[std::stoul(name.substr(dot + 1))];
    }
  }
  return name;
}

bool is_weight(const std::string& name) { return name.starts_with("weight "); }
std::string weight_of(const std::string& name) { return name.substr(7); }

void add_metric(const Case& reference, Model& model, const ModelInputs& inputs,
                Gradient& gradient) {
  if (reference.has_input("labels")) {
    LabelLoss loss;
    loss.labels = reference.int32_input("labels");
    gradient.add(std::move(loss));
  }
  ModelOutputs outputs = model.forward(inputs);
  std::map<std::string, Tensor> weights;
  for (const Json& term : reference.member("terms").array()) {
    const std::string name = term.array()[0].string();
    Tensor& of = weights[name];
    if (of.empty()) of = Tensor::zeros(outputs.at(name).shape());
    of.f32()[*term.array()[1].unsigned_integer()] += static_cast<float>(term.array()[2].number());
  }
  for (auto& [name, of] : weights) gradient.add_output({name, std::move(of)});
}

// A row of the reference: largest element, float32 error, product with fixed factors, some elements.
void expect_row(const std::string& name, const Tensor& actual, const float* row,
                std::size_t columns) {
  const std::size_t count = actual.elements(), elements = columns - 3;
  const double bound = 8.0 * row[1] + gamma(200) * row[0];
  double product = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    product += (static_cast<double>(i * 7919 % 101) / 50.0 - 1.0) * actual.f32()[i];
  }
  EXPECT_NEAR(product, row[2], bound * std::sqrt(static_cast<double>(count)) * 2) << name;
  for (std::size_t i = 0; i < elements; ++i) {
    const std::size_t at = i * (count - 1) / (elements - 1);
    EXPECT_NEAR(actual.f32()[at], row[3 + i], bound) << name << " at " << at << " of " << count;
  }
}

class GradientReference : public ::testing::TestWithParam<const char*> {};

TEST_P(GradientReference, EqualsAutograd) {
  static const Fixture fixture("gradients_models");
  const std::string group = std::string("models/") + GetParam();
  const Fixture forward(group);
  std::size_t compared = 0;
  for (const Case& reference : fixture.cases()) {
    if (reference.option("architecture").string() != GetParam()) continue;
    SCOPED_TRACE(reference.name());
    const CaseInputs given(forward.at(reference.member("source").string()));
    const std::unique_ptr<Model> model = model_of(group, reference);
    Gradient gradient;
    add_metric(reference, *model, given.inputs, gradient);
    const std::vector<Json>& names = reference.member("of").array();
    for (const Json& entry : names) {
      const std::string name = entry.string();
      is_weight(name) ? gradient.want_weights(weight_of(name))
                      : gradient.want(hook_of(*model, name));
    }
    Trace trace;
    model->gradient(given.inputs, trace, gradient);
    const double value = reference.member("value").number();
    EXPECT_NEAR(gradient.value(), value,
                4.0 * reference.member("value_error").number() + gamma(200) * std::fabs(value));
    const Tensor& rows = reference.output("rows");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = names[i].string();
      const Tensor actual = is_weight(name) ? model->weight_gradient(gradient, weight_of(name))
                                            : gradient.at(hook_of(*model, name)).clone();
      expect_row(name, actual, rows.f32() + i * rows.dim(1), rows.dim(1));
      ++compared;
    }
  }
  EXPECT_GT(compared, 10u);
}

// All but torch's nn.Transformer, which has no model in transformers; its modules' gradients are in
// modules/module_backward_test.cpp.
std::vector<const char*> of_transformers() {
  std::vector<const char*> all(std::begin(kArchitectures), std::end(kArchitectures));
  std::erase(all, std::string_view("nn_transformer"));
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, GradientReference, ::testing::ValuesIn(of_transformers()),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace clearformer::test
