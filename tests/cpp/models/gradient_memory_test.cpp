// What a differentiated pass keeps, and what it computes in parts: layers computed twice, logits in blocks of rows, the
// memory told before the pass.
#include <gtest/gtest.h>

#include "clearformer/tensor/memory_budget.h"
#include "support/architectures.h"
#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/model_runs.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

const char* const kSecondBlock = "blocks.1.hook_resid_pre";

class GradientMemory : public ::testing::Test {
 protected:
  LabelLoss loss() const {
    LabelLoss loss;
    loss.labels = ids.clone();
    return loss;
  }

  std::unique_ptr<Model> model =
      load_folder(fixture_path("models/gpt2/odd"), "config.json", Task::causal_lm);
  Tensor ids = random_ids(11, 2, 7, model->config().d_vocab());
  ModelInputs inputs = inputs_of(ids);
};

// Layers computed once more give the same bits, with edits in force and with what functions wrote, which run once and
// are replayed; captures and the metric's value come from the first pass alone.
TEST_F(GradientMemory, RecomputedLayersHaveTheSameBits) {
  const auto run = [&](Gradient::Memory memory, Trace& trace, Gradient& gradient, int& calls) {
    Edit noise;
    noise.hook = "blocks.*.hook_mlp_out";
    noise.op = Edit::Op::noise;
    noise.value = Tensor({1});
    *noise.value.f32() = 0.1f;
    Edit scale;
    scale.hook = "blocks.0.attn.hook_z";
    scale.op = Edit::Op::scale;
    scale.value = Tensor({1});
    *scale.value.f32() = 0.5f;
    trace.edit(std::move(noise));
    trace.edit(std::move(scale));
    const auto twice = [](std::string_view, const MutableTensorView& x) {
      for (std::size_t i = 0; i < x.elements(); ++i) x.f32()[i] *= 2.0f;
    };
    trace.edit(
        kSecondBlock,
        [&, twice](std::string_view name, const MutableTensorView& x) {
          ++calls;
          twice(name, x);
        },
        twice);
    trace.capture("blocks.*.attn.hook_pattern");
    gradient.set_memory(memory);
    gradient.add(loss());
    gradient.add_hook({"blocks.0.hook_resid_mid", Tensor::zeros({1})});
    gradient.want("blocks.*");
    gradient.want_edit(1);
    gradient.want_weights("*");
    model->gradient(inputs, trace, gradient);
  };
  Trace kept_trace, trace;
  Gradient kept, again;
  int first = 0, second = 0;
  run(Gradient::Memory::keep, kept_trace, kept, first);
  run(Gradient::Memory::recompute, trace, again, second);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(kept.value(), again.value());
  EXPECT_EQ(trace.captured().size(), kept_trace.captured().size());
  expect_same_bits("edit", again.edit_value(1), kept.edit_value(1));
  ASSERT_EQ(kept.found().size(), again.found().size());
  for (const Trace::Captured& entry : kept.found()) {
    expect_same_bits(entry.name, again.at(entry.name), entry.value);
  }
  for (const Parameters::Listed& weight : model->parameters().list()) {
    expect_same_bits(weight.name, model->weight_gradient(again, weight.name),
                     model->weight_gradient(kept, weight.name));
  }
  Trace silent;
  silent.edit(kSecondBlock, [](std::string_view, const MutableTensorView& x) { *x.f32() += 1.0f; });
  Gradient refused;
  refused.set_memory(Gradient::Memory::recompute);
  refused.add(loss());
  refused.want("hook_embed");
  expect_error(ErrorCode::unsupported, {kSecondBlock, "vector-Jacobian"},
               [&] { model->gradient(inputs, silent, refused); });
}

// More rows than are in a block of logits: the loss's parts add up, and logits that are not returned change no bit.
TEST_F(GradientMemory, LogitsInBlocksAddUp) {
  constexpr std::size_t kMany = 60, kLong = 20;  // 1200 rows
  const Tensor many = random_ids(12, kMany, kLong, model->config().d_vocab());
  const ModelInputs long_inputs = inputs_of(many);
  const auto run = [&](std::size_t from, std::size_t end, bool omitted) {
    LabelLoss part;
    part.labels = many.clone();
    std::int32_t* const labels = part.labels.mutable_view().as<std::int32_t>();
    for (std::size_t row = 0; row < kMany; ++row) {
      if (row < from || row >= end) std::fill_n(labels + row * kLong, kLong, -100);
    }
    part.weight = static_cast<float>(end - from) / static_cast<float>(kMany);
    Gradient gradient;
    if (from != end) gradient.add(std::move(part));
    gradient.add(LogitTerm{1, 3, 4, 1.0f});
    gradient.want(kSecondBlock);
    gradient.want_weights("wte.weight");
    if (omitted) gradient.omit_logits();
    Trace trace;
    const ModelOutputs outputs = model->gradient(long_inputs, trace, gradient);
    EXPECT_EQ(outputs.tensors.front().second.empty(), omitted);
    return gradient;
  };
  const Gradient whole = run(0, kMany, false), omitted = run(0, kMany, true);
  EXPECT_EQ(whole.value(), omitted.value());
  expect_same_bits("stream", omitted.at(kSecondBlock), whole.at(kSecondBlock));
  expect_same_bits("table", model->weight_gradient(omitted, "wte.weight"),
                   model->weight_gradient(whole, "wte.weight"));
  const Gradient some = run(0, 23, true), rest = run(23, kMany, true), none = run(0, 0, true);
  EXPECT_NEAR(some.value() + rest.value() - none.value(), whole.value(), 1e-5);
  for (const char* of : {"stream", "table"}) {
    const auto found = [&](const Gradient& gradient) {
      return of[0] == 's' ? gradient.at(kSecondBlock).clone()
                          : model->weight_gradient(gradient, "wte.weight");
    };
    Tensor sum = found(some);
    const Tensor other = found(rest), logit = found(none);
    for (std::size_t i = 0; i < sum.elements(); ++i) {
      sum.f32()[i] += other.f32()[i] - logit.f32()[i];
    }
    expect_close(of, sum, found(whole), Bound{1e-6, 0.0, 1e-5});
  }
}

// A budget of which so much is left.
class Left {
 public:
  explicit Left(std::uint64_t bytes) { memory_budget().limit = bytes; }
  Left(const Left&) = delete;
  ~Left() { memory_budget() = before_; }

 private:
  MemoryBudget before_ = memory_budget();
};

// What a pass keeps is known before it, and linear in the number of positions; recomputing keeps the stream and a layer.
TEST_F(GradientMemory, IsToldBeforehand) {
  const auto needed = [&](std::size_t positions, Gradient::Memory memory) {
    const Tensor row = random_ids(13, 1, positions, model->config().d_vocab());
    const ModelInputs one = inputs_of(row);
    std::uint64_t low = 0, high = std::uint64_t{1} << 30;  // the least that is accepted
    while (high - low > 64) {
      const std::uint64_t middle = (low + high) / 2;
      const Left left(middle);
      Gradient gradient;
      gradient.set_memory(memory);
      gradient.add(LogitTerm{0, -1, 3});
      gradient.want("hook_embed");
      Trace trace;
      try {
        model->start_gradient(one, trace, gradient);
        high = middle;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
        low = middle;
      }
    }
    return static_cast<double>(high);
  };
  using Memory = Gradient::Memory;
  const Tensor longest = random_ids(13, 1, 40, model->config().d_vocab());
  model->forward(inputs_of(longest));  // the arena's memory is held
  for (const Memory memory : {Memory::keep, Memory::recompute}) {
    const double once = needed(10, memory), twice = needed(20, memory), more = needed(40, memory);
    EXPECT_NEAR((more - twice) / (twice - once), 2.0, 0.02);
  }
  EXPECT_LT(needed(40, Memory::recompute), 0.8 * needed(40, Memory::keep));
  EXPECT_EQ(needed(40, Memory::automatic), needed(40, Memory::recompute));
  {
    const Left left(20000);
    Gradient gradient;
    gradient.set_memory(Memory::keep);
    gradient.add(loss());
    gradient.want_weights("*");
    Trace trace;
    expect_error(ErrorCode::out_of_memory,
                 {"gradient: 2 sequences of 7 positions", "layers twice", "positions fit"},
                 [&] { model->start_gradient(inputs, trace, gradient); });
  }
}

// The estimate is what is kept: measured at the end of the forward pass.
TEST_F(GradientMemory, IsWhatWasEstimated) {
  for (const bool of_weights : {false, true}) {
    std::size_t kept[2] = {};
    for (const std::size_t length : {9u, 18u}) {
      const Tensor row = random_ids(14, 2, length, model->config().d_vocab());
      const ModelInputs two = inputs_of(row);
      Gradient gradient;
      gradient.set_memory(Gradient::Memory::keep);
      gradient.add(LogitTerm{0, -1, 3});
      gradient.want("hook_embed");
      if (of_weights) gradient.want_weights("h.0.ln_1.bias");
      Trace trace;
      const auto pass = model->start_gradient(two, trace, gradient);
      while (pass->step()) continue;
      kept[length / 18] = gradient.kept_bytes();
      EXPECT_EQ(model->kept_bytes(two, trace, gradient, false), gradient.kept_bytes());
    }
    EXPECT_EQ(kept[1], 2 * kept[0]);
  }
}

// Also where the gradient of any one hook point is sought: for that of the weights of experts all are computed. For scores
// and patterns whole matrices are kept as well, which the estimate leaves out.
TEST_F(GradientMemory, IsWhatWasEstimatedForEveryHookPoint) {
  for (const char* const folder :
       {"gpt2", "olmoe", "granitemoe", "qwen3_moe", "lfm2", "qwen3_5_text"}) {
    each_checkpoint(folder, [](Model& other, const ModelInputs& given) {
      for (const HookPoint& hook : other.hooks()) {
        Gradient gradient;
        gradient.set_memory(Gradient::Memory::keep);
        gradient.add_hook({hook.name, Tensor::zeros({1})});
        gradient.want(hook.name);
        Trace trace;
        const auto pass = other.start_gradient(given, trace, gradient);
        while (pass->step()) continue;
        const std::uint64_t estimated = other.kept_bytes(given, trace, gradient, false);
        if (hook.legend.find("query_pos") != std::string::npos) {
          EXPECT_LT(estimated, gradient.kept_bytes()) << hook.name;
        } else {
          EXPECT_EQ(estimated, gradient.kept_bytes()) << hook.name;
        }
      }
    });
  }
}

TEST_F(GradientMemory, ATraceOutlivesWhatItsPassFound) {
  Trace trace;
  trace.capture(kSecondBlock);
  {
    Gradient gradient;
    gradient.add(loss());
    gradient.want(kSecondBlock);
    model->gradient(inputs, trace, gradient);
    const double value = gradient.value();
    const std::size_t kept = gradient.kept_bytes();
    model->forward(inputs, &trace);
    EXPECT_EQ(gradient.value(), value);
    EXPECT_EQ(gradient.kept_bytes(), kept);
    model->start_gradient(inputs, trace, gradient)->step();
    EXPECT_EQ(trace.gradient(), nullptr);
    ModelInputs wrong = inputs;
    wrong.input_ids = {};
    EXPECT_THROW(model->gradient(wrong, trace, gradient), Error);
  }
  model->forward(inputs, &trace);
  EXPECT_EQ(trace.gradient(), nullptr);
}

}  // namespace
}  // namespace clearformer::test
