// The exported functions of the WebAssembly module with Embind's glue code and Emscripten's allocator. Fails every
// allocation in turn while a model is loaded, run, traced, used for generation and released: expects the answer
// out_of_memory, no leak, and the same bits afterwards. All other calls: border_calls_test.cpp.
// CLEARFORMER_EVERY_ALLOCATION=1 tries all allocations, otherwise a selection.
#include <emscripten/em_asm.h>

#include "allocation/border_session.h"

namespace clearformer::test {
namespace {

// Everything a caller does with a model; returns a hash of all results.
std::uint64_t live_through(const Files& files) {
  const bool generates = files.subject().generates;
  Results results;
  Session session;
  const val model = files.model(session)["model"];
  for (const bool watched : {false, true}) {
    Members given = files.inputs().with("model", model);
    if (watched) given.with(Members("({ names: ['*'], output_attentions: true })"));
    if (generates) given.with("use_cache", val(true));
    const val value = session.call<bindings::model_forward>(given);
    if (generates) session.keep(value["past_key_values"]);
    results.add(value["outputs"]);
    if (watched) results.add(value["captured"]);
  }
  for (const int beams : {1, 2}) {
    if (!generates) break;
    const val options = Members().with("max_new_tokens", 3).with("num_beams", beams).object();
    Members given = files.inputs().with("model", model).with("options", options);
    given.with("decoder_input_ids", val::undefined());
    const val generation =
        session.keep(session.call<bindings::generation_create>(given)["generation"]);
    const Members step = Members().with("generation", generation).with("output_scores", val(true));
    for (val value = val::object(); !value["done"].isTrue();) {
      value = session.call<bindings::generation_step>(step);
      results.add(value["scores"]);
    }
    results.add(session.call<bindings::generation_result>(step)["sequences"]);
  }
  session.call<bindings::checkpoint_tensors>(files.described());
  session.call<bindings::inspect>(files.described().with("files", files.headers()));
  session.call<bindings::memory_use>(Members());
  return results.sum();
}

// Address 0 is the end of the stack, reached only by writes through a null pointer.
constexpr int kMark = 0x5eed;
void mark_address_0() {
  EM_ASM({ HEAP32[0] = $0; }, kMark);
}
bool is_marked() {
  return EM_ASM_INT({ return HEAP32[0]; }) == kMark;
}

class EveryAllocationAtTheBorder : public ::testing::TestWithParam<Subject> {};

TEST_P(EveryAllocationAtTheBorder, IsAnsweredOrDoneWithout) {
  const Files files(GetParam());
  const std::uint64_t expected = live_through(files);  // including what is allocated once
  const std::size_t before = live_bytes();
  std::size_t refused = 0;
  mark_address_0();
  for (const Failing how : {Failing::once, Failing::from_on}) {
    bool whole = false;
    for (std::size_t which = 1; !whole && !HasFailure(); which += stride(97)) {
      fail_allocations(which, how);
      try {
        const std::uint64_t sum = live_through(files);
        whole = allocations() < which;
        stop_failing();
        EXPECT_EQ(sum, expected) << "allocation " << which;
      } catch (const Refused& refusal) {
        EXPECT_TRUE(refusal.code.starts_with("out_of_memory")) << refusal.code << ": " << which;
        ++refused;
      }
      EXPECT_EQ(live_bytes(), before) << "allocation " << which;
      EXPECT_TRUE(is_marked()) << "allocation " << which;
    }
    EXPECT_EQ(live_through(files), expected);
  }
  EXPECT_GT(refused, 10u);
}

INSTANTIATE_TEST_SUITE_P(Subjects, EveryAllocationAtTheBorder, ::testing::ValuesIn(kSubjects),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace clearformer::test
