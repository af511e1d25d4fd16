// Every hook point of every architecture: capturing all of them changes no bit of the outputs, and an
// edit of any of them changes the outputs, and nothing that was computed before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "support/architectures.h"
#include "support/closeness.h"

namespace clearformer::test {
namespace {

bool same(const Tensor& left, const Tensor& right) {
  return left.shape() == right.shape() &&
         std::memcmp(left.data(), right.data(), left.elements() * sizeof(float)) == 0;
}

bool same(const ModelOutputs& left, const ModelOutputs& right) {
  for (std::size_t i = 0; i < left.tensors.size(); ++i) {
    if (!same(left.tensors[i].second, right.tensors[i].second)) return false;
  }
  return true;
}

// Different factors: norms and softmax would cancel a common one.
void disturb(std::string_view, MutableTensorView value) {
  for (std::size_t i = 0; i < value.elements(); ++i) {
    value.f32()[i] *= 1.0f + 0.01f * static_cast<float>(i % 7);
  }
}

// Also what is computed on request. Those with one pattern: a pass compares each name with all patterns.
void capture_all(Model& model, Trace& trace) {
  trace.capture("*");
  for (const HookPoint& hook : model.hooks()) {
    if (hook.on_request()) trace.capture(hook.name);
  }
}

class TraceEverywhere : public ::testing::TestWithParam<const char*> {};

TEST_P(TraceEverywhere, SeeingEverythingChangesNoBit) {
  each_checkpoint(GetParam(), [](Model& model, const ModelInputs& inputs) {
    const ModelOutputs unseen = model.forward(inputs);
    Trace trace;
    capture_all(model, trace);
    const ModelOutputs seen = model.forward(inputs, &trace);
    ASSERT_EQ(seen.tensors.size(), unseen.tensors.size());
    for (std::size_t i = 0; i < seen.tensors.size(); ++i) {
      expect_same_bits(seen.tensors[i].first, seen.tensors[i].second, unseen.tensors[i].second);
    }
    for (const Trace::Captured& entry : trace.captured()) {
      Trace single;
      single.capture(entry.name);
      EXPECT_TRUE(same(model.forward(inputs, &single), unseen)) << entry.name;
      ASSERT_EQ(single.captured().size(), 1u);
      expect_same_bits(entry.name, single.at(entry.name), entry.value);
    }
  });
}

// Names in the order they are computed, and a legend with one word per axis.
TEST_P(TraceEverywhere, HooksTellNamesAndAxesOfAPass) {
  each_checkpoint(GetParam(), [](Model& model, const ModelInputs& inputs) {
    Trace trace;
    capture_all(model, trace);
    model.forward(inputs, &trace);
    const std::vector<HookPoint>& hooks = model.hooks();
    ASSERT_EQ(hooks.size(), trace.captured().size());
    for (std::size_t i = 0; i < hooks.size(); ++i) {
      const Trace::Captured& entry = trace.captured()[i];
      EXPECT_EQ(hooks[i].name, entry.name);
      EXPECT_EQ(hooks[i].legend, entry.legend) << entry.name;
      const auto words = 1 + std::count(entry.legend.begin(), entry.legend.end(), ' ');
      EXPECT_EQ(static_cast<std::size_t>(words), entry.value.shape().rank()) << entry.name;
    }
  });
}

TEST_P(TraceEverywhere, AnEditOfAnyHookReachesTheOutputsAndNothingBefore) {
  each_checkpoint(GetParam(), [](Model& model, const ModelInputs& inputs) {
    Trace before;
    capture_all(model, before);
    const ModelOutputs unedited = model.forward(inputs, &before);
    const std::vector<Trace::Captured>& hooks = before.captured();  // in the order of computation
    for (std::size_t edited = 0; edited < hooks.size(); ++edited) {
      SCOPED_TRACE(hooks[edited].name);
      // The next call reads it: see delta_cache_test.cpp.
      if (hooks[edited].name.ends_with("delta.hook_state")) continue;
      Trace trace;
      capture_all(model, trace);
      trace.edit(hooks[edited].name, disturb);
      const ModelOutputs outputs = model.forward(inputs, &trace);
      EXPECT_FALSE(same(outputs, unedited)) << "the edit is lost";
      ASSERT_EQ(trace.captured().size(), hooks.size());
      for (std::size_t hook = 0; hook < edited; ++hook) {
        EXPECT_TRUE(same(trace.captured()[hook].value, hooks[hook].value)) << hooks[hook].name;
      }
      EXPECT_FALSE(same(trace.captured()[edited].value, hooks[edited].value));
      Trace unseen;
      unseen.edit(hooks[edited].name, disturb);
      EXPECT_TRUE(same(model.forward(inputs, &unseen), outputs)) << "being seen changes the edit";
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sound, TraceEverywhere, ::testing::ValuesIn(kSoundArchitectures),
                         [](const auto& name) { return std::string(name.param); });
INSTANTIATE_TEST_SUITE_P(All, TraceEverywhere, ::testing::ValuesIn(kArchitectures),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace clearformer::test
