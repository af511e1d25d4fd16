// The metric and the results of a differentiated pass: losses, logits, read-outs, edits as parts of the function,
// threads, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/tensor/thread_pool.h"
#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/model_runs.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kIdRows = 2, kIdCount = 7;
const char* const kMiddle = "blocks.1.hook_resid_pre";

class Gradients : public ::testing::Test {
 protected:
  void TearDown() override { set_num_threads(1); }

  LabelLoss loss(float smoothing = 0.0f) const {
    LabelLoss loss;
    loss.labels = ids.clone();
    loss.label_smoothing = smoothing;
    return loss;
  }

  std::unique_ptr<Model> model =
      load_folder(fixture_path("models/gpt2/odd"), "config.json", Task::causal_lm);
  Tensor ids = random_ids(11, kIdRows, kIdCount, model->config().d_vocab());
  ModelInputs inputs = inputs_of(ids);
};

// (f(x + step) - f(x - step)) / (2 step), for a metric of edited passes.
template <class Metric>
double slope(const Metric& metric, double step = 1e-2) {
  return (metric(step) - metric(-step)) / (2 * step);
}

TEST_F(Gradients, TermsOfAMetricAddUp) {
  Gradient all;
  all.add(loss(0.1f));
  all.add(LogitTerm{1, -1, 5, 2.0f});
  all.add(LogitTerm{0, 3, 4, -1.0f});
  all.want(kMiddle);
  Tensor sum = Tensor::zeros({kIdRows, kIdCount, model->config().d_model()});
  double value = 0.0;
  for (int term = 0; term < 3; ++term) {
    Gradient one;
    if (term == 0) one.add(loss(0.1f));
    if (term == 1) one.add(LogitTerm{1, kIdCount - 1, 5, 2.0f});
    if (term == 2) one.add(LogitTerm{0, 3 - static_cast<std::int64_t>(kIdCount), 4, -1.0f});
    one.want(kMiddle);
    Trace trace;
    model->gradient(inputs, trace, one);
    value += one.value();
    for (std::size_t i = 0; i < sum.elements(); ++i) sum.f32()[i] += one.at(kMiddle).f32()[i];
  }
  Trace trace;
  model->gradient(inputs, trace, all);
  EXPECT_NEAR(all.value(), value, 1e-6 * std::fabs(value));
  expect_close("gradient", all.at(kMiddle), sum, Bound{1e-7, 0.0, 1e-5});
}

TEST_F(Gradients, OfLogitsToKeepAreThoseOfAll) {
  Gradient all, kept;
  for (Gradient* gradient : {&all, &kept}) {
    gradient->add(LogitTerm{1, -2, 5, 1.5f});
    gradient->add(LogitTerm{0, 2, 4});
    gradient->want_weights("*");
  }
  ModelInputs few = inputs_of(ids);
  few.logits_to_keep = {2, -2};
  Trace trace, other;
  model->gradient(inputs, trace, all);
  model->gradient(few, other, kept);
  EXPECT_EQ(all.value(), kept.value());
  for (const Parameters::Listed& weight : model->parameters().list()) {
    expect_close(weight.name, model->weight_gradient(kept, weight.name),
                 model->weight_gradient(all, weight.name), Bound{1e-9, 0.0, 1e-6});
  }
  kept = Gradient();
  kept.add(LogitTerm{0, 0, 5});
  expect_error(ErrorCode::invalid_argument, {"no logit of row 0, position 0"},
               [&] { model->gradient(few, other, kept); });
}

// A read-out of a hook point in the middle: nothing behind it has a part in it.
TEST_F(Gradients, OfAReadOutEndAtItsHook) {
  Random random(2);
  const Tensor weights = random.tensor({model->config().d_model()});
  Gradient gradient;
  gradient.add_hook({kMiddle, weights.clone()});
  gradient.want("*hook_resid_*");
  gradient.want_weights("wte.weight");
  Trace trace;
  trace.capture(kMiddle);
  model->gradient(inputs, trace, gradient);
  double value = 0.0;
  const Tensor& read = trace.at(kMiddle);
  for (std::size_t i = 0; i < read.elements(); ++i) {
    value += static_cast<double>(read.f32()[i]) * weights.f32()[i % weights.elements()];
    EXPECT_EQ(gradient.at(kMiddle).f32()[i], weights.f32()[i % weights.elements()]);
    EXPECT_EQ(gradient.at("blocks.1.hook_resid_post").f32()[i], 0.0f);
  }
  EXPECT_NEAR(gradient.value(), value, 1e-9 * std::fabs(value) + 1e-9);
}

// One edit of each kind, at positions and heads; those that cut leave nothing of the path through what they replace.
struct EditCase {
  const char* name;
  Edit edit;
};

std::vector<EditCase> edit_cases() {
  Random random(9);
  const auto made = [](Edit::Op op, Tensor value) {
    Edit edit;
    edit.hook = "blocks.1.attn.hook_z";
    edit.op = op;
    edit.value = std::move(value);
    edit.positions = {1, -2};
    return edit;
  };
  std::vector<EditCase> cases;
  cases.push_back({"scale", made(Edit::Op::scale, random.tensor({3, 1}))});
  cases.push_back({"add", made(Edit::Op::add, random.tensor({2, 1, 10}))});
  cases.push_back({"replace", made(Edit::Op::replace, random.tensor({10}))});
  cases.push_back({"mean with a value", made(Edit::Op::mean, random.tensor({3, 10}))});
  cases.push_back({"zero", made(Edit::Op::zero, {})});
  cases.push_back({"mean", made(Edit::Op::mean, {})});
  cases.push_back({"project_out", made(Edit::Op::project_out, random.tensor({10}))});
  cases.push_back({"project_out of a space", made(Edit::Op::project_out, random.tensor({3, 10}))});
  cases.push_back({"noise", made(Edit::Op::noise, random.tensor({1}, 0.1f, 0.2f))});
  cases.push_back({"clamp", made(Edit::Op::clamp, {})});
  cases.back().edit.min = Tensor::zeros({1});
  return cases;
}

Edit copied(const Edit& edit) {
  Edit copy;
  copy.hook = edit.hook;
  copy.op = edit.op;
  copy.heads = edit.heads;
  copy.positions = edit.positions;
  copy.seed = edit.seed;
  if (!edit.value.empty()) copy.value = edit.value.clone();
  if (!edit.min.empty()) copy.min = edit.min.clone();
  return copy;
}

TEST_F(Gradients, PassThroughEdits) {
  for (const EditCase& each : edit_cases()) {
    SCOPED_TRACE(each.name);
    const bool differentiable = !each.edit.value.empty();
    Gradient gradient;
    gradient.add(loss());
    gradient.want("blocks.0.hook_resid_pre");
    if (differentiable) gradient.want_edit(0);
    Trace trace;
    trace.edit(copied(each.edit));
    model->gradient(inputs, trace, gradient);
    const Tensor& found = gradient.at("blocks.0.hook_resid_pre");
    Random random(4);
    // A step of the first block's input, and one of the edit's value.
    const auto value_at = [&](const Tensor* input, const Tensor* value, double step) {
      Trace stepped;
      if (input != nullptr) {
        Edit move;
        move.hook = "blocks.0.hook_resid_pre";
        move.op = Edit::Op::add;
        move.value = input->clone();
        for (std::size_t i = 0; i < input->elements(); ++i) {
          move.value.f32()[i] *= static_cast<float>(step);
        }
        stepped.edit(std::move(move));
      }
      Edit edit = copied(each.edit);
      for (std::size_t i = 0; value != nullptr && i < value->elements(); ++i) {
        edit.value.f32()[i] += static_cast<float>(step * value->f32()[i]);
      }
      stepped.edit(std::move(edit));
      Gradient metric;
      metric.add(loss());
      model->gradient(inputs, stepped, metric);
      return metric.value();
    };
    const auto product = [](const Tensor& a, const Tensor& b) {
      double sum = 0.0;
      for (std::size_t i = 0; i < a.elements(); ++i) {
        sum += static_cast<double>(a.f32()[i]) * b.f32()[i];
      }
      return sum;
    };
    const Tensor direction = random.tensor(found.shape());
    const double expected = product(found, direction);
    EXPECT_NEAR(slope([&](double step) { return value_at(&direction, nullptr, step); }, 1e-3),
                expected,
                2e-3 * std::sqrt(product(found, found)) * std::sqrt(product(direction, direction)));
    if (!differentiable) continue;
    const Tensor& of_value = gradient.edit_value(0);
    ASSERT_EQ(of_value.shape(), each.edit.value.shape());
    const Tensor along = random.tensor(of_value.shape());
    EXPECT_NEAR(
        slope([&](double step) { return value_at(nullptr, &along, step); }),
        product(of_value, along),
        2e-3 * std::sqrt(product(of_value, of_value)) * std::sqrt(product(along, along)) + 1e-5);
  }
}

TEST_F(Gradients, OfFunctionsNeedTheirProduct) {
  const auto twice = [](std::string_view, const MutableTensorView& value) {
    for (std::size_t i = 0; i < value.elements(); ++i) value.f32()[i] *= 2.0f;
  };
  Gradient gradient;
  gradient.add(loss());
  gradient.want("blocks.0.hook_resid_pre");
  Trace without, with, scaled;
  without.edit(kMiddle, twice);
  expect_error(ErrorCode::unsupported, {kMiddle, "vector-Jacobian"},
               [&] { model->gradient(inputs, without, gradient); });
  with.edit(kMiddle, twice, twice);
  model->gradient(inputs, with, gradient);
  const Tensor found = gradient.at("blocks.0.hook_resid_pre").clone();
  Edit edit;
  edit.hook = kMiddle;
  edit.op = Edit::Op::scale;
  edit.value = Tensor::zeros({1});
  edit.value.f32()[0] = 2.0f;
  scaled.edit(std::move(edit));
  model->gradient(inputs, scaled, gradient);
  expect_same_bits("as data", gradient.at("blocks.0.hook_resid_pre"), found);
  // A function that only reads, and one that changes the gradient.
  Trace reading;
  reading.edit(kMiddle, [](std::string_view, const MutableTensorView&) {});
  Gradient cut;
  cut.add(loss());
  cut.want("blocks.*.hook_resid_*");
  cut.edit(kMiddle, [](std::string_view, const MutableTensorView& d) {
    for (std::size_t i = 0; i < d.elements(); ++i) d.f32()[i] = 0.0f;
  });
  model->gradient(inputs, reading, cut);
  for (std::size_t i = 0; i < found.elements(); ++i) {
    EXPECT_EQ(cut.at("blocks.0.hook_resid_pre").f32()[i], 0.0f);
    EXPECT_EQ(cut.at(kMiddle).f32()[i], 0.0f);
  }
}

TEST_F(Gradients, HaveTheSameBitsWithThreads) {
  const Tensor many = random_ids(7, 24, 32, model->config().d_vocab());
  const ModelInputs batch = inputs_of(many);
  const auto run = [&](Gradient& gradient) {
    LabelLoss of;
    of.labels = many.clone();
    gradient.add(std::move(of));
    gradient.want("*");
    gradient.want_weights("*");
    Trace trace;
    model->gradient(batch, trace, gradient);
  };
  Gradient alone;
  run(alone);
  for (const std::size_t threads : {2u, 4u}) {
    set_num_threads(threads);
    Gradient shared;
    run(shared);
    EXPECT_EQ(shared.value(), alone.value());
    ASSERT_EQ(shared.found().size(), alone.found().size());
    for (const Trace::Captured& entry : alone.found()) {
      expect_same_bits(entry.name, shared.at(entry.name), entry.value);
    }
    for (const Parameters::Listed& weight : model->parameters().list()) {
      expect_same_bits(weight.name, model->weight_gradient(shared, weight.name),
                       model->weight_gradient(alone, weight.name));
    }
  }
}

// TransformerLens' names, of which W_E is scaled and norms have their offset added.
TEST_F(Gradients, OfWeightsHaveAllTheirNames) {
  Gradient gradient;
  gradient.add(loss());
  gradient.want_weights("h.0.attn.c_attn.weight");
  gradient.want_weights("h.0.mlp.c_fc.weight");
  Trace trace;
  model->gradient(inputs, trace, gradient);
  const Tensor joined = model->weight_gradient(gradient, "h.0.attn.c_attn.weight");
  const Tensor own = model->weight_gradient(gradient, "blocks.0.attn.W_Q");
  const std::size_t width = model->config().d_model(), d_head = own.dim(2);
  ASSERT_EQ(own.shape(), (Shape{3, width, 10}));
  for (std::size_t i = 0; i < own.elements(); ++i) {
    const std::size_t head = i / (width * d_head), input = i / d_head % width;
    EXPECT_EQ(own.f32()[i], joined.f32()[input * 3 * width + head * d_head + i % d_head]);
  }
  expect_same_bits("W_in", model->weight_gradient(gradient, "blocks.0.mlp.W_in"),
                   model->weight_gradient(gradient, "h.0.mlp.c_fc.weight"));
  expect_error(ErrorCode::invalid_argument, {"wpe.weight", "not asked for"},
               [&] { model->weight_gradient(gradient, "wpe.weight"); });
}

TEST_F(Gradients, RefuseWhatHasNone) {
  Trace trace;
  const auto refused = [&](ErrorCode code, const std::vector<std::string>& parts, auto&& ask) {
    Gradient gradient;
    ask(gradient);
    expect_error(code, parts, [&] { model->gradient(inputs, trace, gradient); });
  };
  using enum ErrorCode;
  refused(invalid_argument, {"no metric"}, [](Gradient&) {});
  refused(invalid_argument, {"blocks.9.hook_resid_pre"}, [&](Gradient& gradient) {
    gradient.add(loss());
    gradient.want("blocks.9.hook_resid_pre");
  });
  refused(invalid_argument, {"blocks.9.hook_resid_pre"}, [&](Gradient& gradient) {
    gradient.add_hook({"blocks.9.hook_resid_pre", Tensor::zeros({1})});
  });
  refused(invalid_argument, {"blocks.9.hook_resid_pre"}, [&](Gradient& gradient) {
    gradient.add(loss());
    gradient.edit("blocks.9.hook_resid_pre", [](std::string_view, const MutableTensorView&) {});
  });
  Gradient empty;
  expect_error(invalid_argument, {kMiddle, "no function"}, [&] { empty.edit(kMiddle, {}); });
  refused(invalid_argument, {"h.9"}, [&](Gradient& gradient) {
    gradient.add(loss());
    gradient.want_weights("h.9.ln_1.weight");
  });
  refused(invalid_argument, {"edit 0"}, [&](Gradient& gradient) {
    gradient.add(loss());
    gradient.want_edit(0);
  });
  refused(shape_mismatch, {"labels", "[2, 7]"}, [&](Gradient& gradient) {
    LabelLoss wrong;
    wrong.labels = Tensor({2, 6}, DType::i32);
    gradient.add(std::move(wrong));
  });
  refused(invalid_argument, {"label 500"}, [&](Gradient& gradient) {
    LabelLoss wrong = loss();
    wrong.labels.mutable_view().as<std::int32_t>()[3] = 500;
    gradient.add(std::move(wrong));
  });
  refused(invalid_argument, {"no output \"pooler_output\""},
          [&](Gradient& gradient) { gradient.add_output({"pooler_output", Tensor::zeros({1})}); });
  KeyValueCache cache = model->make_cache();
  inputs.cache = &cache;
  refused(unsupported, {"past_key_values"}, [&](Gradient& gradient) { gradient.add(loss()); });
  inputs.cache = nullptr;
  inputs.stop_at_layer = 1;
  refused(invalid_argument, {"loss", "stop_at_layer"},
          [&](Gradient& gradient) { gradient.add(loss()); });
}

TEST_F(Gradients, OfLabelsNeedAHead) {
  const auto base = load_folder(fixture_path("models/gpt2/odd"), "config.json", Task::base);
  Gradient gradient;
  gradient.add(loss());
  gradient.want(kMiddle);
  Trace trace;
  expect_error(ErrorCode::unsupported, {"loss", "gpt2 for the task base", "labels"},
               [&] { base->gradient(inputs, trace, gradient); });
}

TEST_F(Gradients, OfAResidualThatAPassEndsWith) {
  Gradient whole, part;
  Random random(6);
  Tensor weights = random.tensor({kIdRows, kIdCount, model->config().d_model()});
  whole.add_hook({kMiddle, weights.clone()});
  part.add_output({"residual", weights.clone()});
  for (Gradient* gradient : {&whole, &part}) gradient->want("blocks.0.*");
  Trace trace, other;
  model->gradient(inputs, trace, whole);
  inputs.stop_at_layer = 1;
  model->gradient(inputs, other, part);
  for (const Trace::Captured& entry : part.found()) {
    if (entry.name == "blocks.0.hook_resid_post") continue;  // the same place as kMiddle
    expect_same_bits(entry.name, entry.value, whole.at(entry.name));
  }
}

TEST_F(Gradients, OnlyACompletePassThatIsDifferentiatedGoesBack) {
  const auto refused_back = [](ForwardPass& pass) {
    expect_error(ErrorCode::invalid_argument, {"not differentiated, or not complete"},
                 [&] { pass.step_back(); });
  };
  const auto plain = model->start(inputs, nullptr);
  while (plain->step()) continue;
  refused_back(*plain);
  Trace trace;
  Gradient gradient;
  gradient.add(loss());
  gradient.want(kMiddle);
  refused_back(*model->start_gradient(inputs, trace, gradient));
}

}  // namespace
}  // namespace clearformer::test
