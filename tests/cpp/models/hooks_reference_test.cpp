// Every hook point against transformers, read there with forward hooks, and edits against the same
// edits in PyTorch. The bound is that of logits, 2e-5 + 1e-5 · max |reference|, plus the difference between the
// reference, a float32 run, and its float64 run.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "support/architectures.h"
#include "support/closeness.h"
#include "support/reference_edits.h"

namespace clearformer::test {
namespace {

class HooksReference : public ::testing::Test {
 protected:
  static std::unique_ptr<Model> model_of(const Case& reference) {
    return test::model_of(".", reference);
  }
  static Bound bound(const Case& reference, const std::string& name) {
    Bound bound = kModelBound;
    bound.absolute += reference.member("float32_error").find(name)->number();
    return bound;
  }

  Fixture fixture{"hooks"};
};

// Values that the reference omits, at padded positions, are NaN there and omitted from ours as well.
Tensor compared(const Tensor& actual, const Tensor& expected) {
  Tensor result = actual.clone();
  if (actual.shape() != expected.shape()) return result;
  for (std::size_t i = 0; i < result.elements(); ++i) {
    if (std::isnan(expected.f32()[i])) result.f32()[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return result;
}

bool is_padded(const Case& reference) {
  return reference.has_input("attention_mask") || reference.has_input("decoder_attention_mask");
}

TEST_F(HooksReference, EveryHookPointEqualsTransformers) {
  const auto cases = fixture.of_op("run_with_cache");
  for (const Case* reference : cases) {
    SCOPED_TRACE(reference->name());
    const CaseInputs given(*reference);
    Trace trace;
    trace.capture("*");
    model_of(*reference)->forward(given.inputs, &trace);
    std::set<std::string> ours, theirs;
    for (const Trace::Captured& entry : trace.captured()) ours.insert(entry.name);
    for (const std::string& name : reference->outputs()) theirs.insert(name);
    EXPECT_EQ(ours, theirs);
    for (const std::string& name : theirs) {
      if (ours.count(name) == 0) continue;
      const Tensor &actual = trace.at(name), &expected = reference->output(name);
      expect_close(name, is_padded(*reference) ? compared(actual, expected) : actual.clone(),
                   expected, bound(*reference, name));
    }
  }
}

// Both forms of an edit.
struct Way {
  const char* name;
  void (*add)(Trace& trace, const Case& reference);
};
constexpr Way kWays[] = {{"a function", add_functions}, {"data", add_edits}};

TEST_F(HooksReference, EditsEqualTheSameEditsInPyTorch) {
  const auto cases = fixture.of_op("run_with_hooks");
  for (const Case* reference : cases) {
    for (const auto& [way, add] : kWays) {
      SCOPED_TRACE(reference->name() + " as " + way);
      const CaseInputs given(*reference);
      Trace trace;
      add(trace, *reference);
      ModelOutputs outputs = model_of(*reference)->forward(given.inputs, &trace);
      expect_close("logits", outputs.at("logits"), reference->output("logits"),
                   bound(*reference, "logits"));
    }
  }
}

}  // namespace
}  // namespace clearformer::test
