// Edits of modules: what is written at a hook point is what the module continues with.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "clearformer/modules/module.h"
#include "support/fixture.h"
#include "support/json_text.h"

namespace clearformer::test {
namespace {

struct Subject {
  const char *library, *group, *example;
  std::vector<const char*> tensors;
};

const Subject kSubjects[] = {
    {"d2l.", "d2l", "additive_all", {"queries", "keys", "values"}},
    {"d2l.", "d2l", "multi_head_all", {"queries", "keys", "values"}},
    {"d2l.", "d2l", "encoder_block_all", {"X"}},
};

// The outputs of a pass, with numbers written at one hook point.
Tensor edited(Module& module, const Module::Inputs& inputs, const std::string& hook) {
  Trace trace;
  trace.edit(hook, [](std::string_view, const MutableTensorView& value) {
    for (std::size_t i = 0; i < value.elements(); ++i) {
      value.f32()[i] = 0.25f + 0.5f * static_cast<float>(i % 3);
    }
  });
  return module.forward(inputs, &trace);
}

TEST(ModuleEdits, EveryHookPointIsWhatTheModuleContinuesWith) {
  for (const Subject& subject : kSubjects) {
    SCOPED_TRACE(subject.example);
    const Fixture fixture(subject.group);
    const Case& example = fixture.at(subject.example);
    const std::string kind = subject.library + example.op();
    const auto module = Module::make(
        kind,
        ConfigReader(options_text(example, {"mode", "query_size", "key_size", "value_size"}), kind),
        example.state_dict());
    Module::Inputs inputs;
    for (const char* name : subject.tensors) {
      inputs.tensors.emplace(name, example.input(name).view());
    }
    Trace trace;
    trace.capture("*");
    const Tensor plain = module->forward(inputs, &trace);
    EXPECT_FALSE(trace.captured().empty());
    for (const Trace::Captured& captured : trace.captured()) {
      const Tensor changed = edited(*module, inputs, captured.name);
      EXPECT_NE(std::memcmp(plain.data(), changed.data(), plain.view().bytes()), 0)
          << captured.name << " changes nothing";
    }
  }
}

}  // namespace
}  // namespace clearformer::test
