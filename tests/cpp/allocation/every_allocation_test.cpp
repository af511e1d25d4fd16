// Fails every allocation in turn while a model is loaded, run, traced and destroyed: expects a typed error, no leak,
// and the same bits afterwards. CLEARFORMER_EVERY_ALLOCATION=1 tries all allocations, otherwise a selection.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <tuple>

#include "allocation/failing_memory.h"
#include "allocation/subjects.h"
#include "clearformer/generation/generation.h"
#include "clearformer/loading/inspection.h"
#include "clearformer/loading/load_model.h"
#include "clearformer/tensor/typed_memory.h"
#include "support/files.h"

namespace clearformer::test {
namespace {

void add(Digest& digest, const TensorView& tensor) { digest.add(tensor.data(), tensor.bytes()); }

// Inputs created before allocations fail.
struct Given {
  explicit Given(const ModelConfig& config) : ids({1, 4}, DType::i32) {
    for (int i = 0; i < 4; ++i) ids.mutable_view().as<std::int32_t>()[i] = 5 + 3 * i;
    if (config.kind == ModelKind::encoder_only && config.tower.image) {
      pixels = Tensor::zeros({1, 1, 20, 20});
      for (std::size_t i = 0; i < pixels.elements(); ++i) {
        pixels.f32()[i] = static_cast<float>(i % 7) - 3.0f;
      }
      inputs.pixel_values = pixels.view();
      return;
    }
    inputs.input_ids = ids.view();
  }
  Tensor ids, pixels;
  ModelInputs inputs;
};

// The hash of a forward pass, with and without trace, and of a generation.
std::uint64_t run(Model& model, const Subject& subject, const ModelInputs& given) {
  Digest digest;
  ModelInputs inputs = given;
  if (model.config().kind == ModelKind::encoder_decoder) inputs.decoder_input_ids = given.input_ids;
  for (const auto& [name, tensor] : model.forward(inputs).tensors) add(digest, tensor.view());
  Trace all;
  typed_memory([&] { all.capture("*"); });  // a small call, which may throw bad_alloc
  model.forward(inputs, &all);
  for (const Trace::Captured& each : all.captured()) add(digest, each.value.view());
  if (!subject.generates) return digest.sum();
  for (const std::size_t beams : {1, 2}) {
    GenerationConfig config;
    config.max_new_tokens = 3;
    config.num_beams = beams;
    Generation generation(model, given, config);
    while (!generation.done()) add(digest, generation.next().scores.view());
    add(digest, generation.sequences().view());
  }
  return digest.sum();
}

class EveryAllocation : public ::testing::TestWithParam<Subject> {
 protected:
  const std::string folder = fixture_path(std::string("models/") + GetParam().folder);
  const Given given{load()->config()};

  std::unique_ptr<Model> load() const { return from_pretrained(folder); }
  // Load, run, trace, generate, destroy.
  std::uint64_t all() const { return run(*load(), GetParam(), given.inputs); }
};

#ifdef __EMSCRIPTEN__  // see typed_memory
constexpr bool kTypedAtTheBorder = true;
#else
constexpr bool kTypedAtTheBorder = false;
#endif

enum class Outcome {
  whole,     // there were fewer allocations
  refused,   // reported as out_of_memory
  managed,   // continued without the memory, which was an optimisation
  untyped,   // another exception
  miscoded,  // an Error of another code
};

// Calls `work` with one failing allocation.
template <class Work>
Outcome outcome_of(std::size_t which, Failing how, Work work) {
  fail_allocations(which, how);
  try {
    work();
    const bool whole = allocations() < which;
    stop_failing();
    return whole ? Outcome::whole : Outcome::managed;
  } catch (const Error& error) {
    stop_failing();
    return error.code() == ErrorCode::out_of_memory ? Outcome::refused : Outcome::miscoded;
  } catch (const std::bad_alloc&) {
    stop_failing();
    return kTypedAtTheBorder ? Outcome::refused : Outcome::untyped;
  } catch (const std::exception&) {
    stop_failing();
    return Outcome::untyped;
  }
}

// Calls `work` repeatedly, failing every step-th allocation in turn, and `after` after each; returns the number
// rejected.
template <class Work, class After>
std::size_t fail_each(std::size_t step, Failing how, Work work, After after) {
  std::size_t refused = 0;
  Outcome outcome = Outcome::refused;
  for (std::size_t which = 1; outcome != Outcome::whole; which += step) {
    outcome = outcome_of(which, how, work);
    EXPECT_NE(outcome, Outcome::untyped) << "allocation " << which;
    EXPECT_NE(outcome, Outcome::miscoded) << "allocation " << which;
    refused += outcome == Outcome::refused ? 1 : 0;
    after(which, outcome);
    if (::testing::Test::HasFailure()) break;
  }
  return refused;
}

// Checks that the number of live bytes after each run is unchanged.
auto expect_no_leak() {
  return [before = live_bytes()](std::size_t which, Outcome) {
    EXPECT_EQ(live_bytes(), before) << "allocation " << which;
  };
}

TEST_P(EveryAllocation, OfLoadingRunningAndDisposing) {
  const std::uint64_t expected = all();  // also creates what is created once
  for (const Failing how : {Failing::once, Failing::from_on}) {
    EXPECT_GT(fail_each(stride(211), how, [&] { all(); }, expect_no_leak()), 5u);
    EXPECT_EQ(all(), expected);
  }
}

TEST_P(EveryAllocation, OfAModelThatGoesOnLiving) {
  const auto model = load();
  const std::uint64_t expected = run(*model, GetParam(), given.inputs);
  for (const Failing how : {Failing::once, Failing::from_on}) {
    // The workspace belongs to the model: live bytes are compared after whole runs.
    const std::size_t before = live_bytes();
    const auto work = [&] { run(*model, GetParam(), given.inputs); };
    std::size_t turn = 0;
    const auto after = [&](std::size_t which, Outcome outcome) {
      if (++turn % 8 != 0 && outcome != Outcome::whole) return;
      EXPECT_EQ(run(*model, GetParam(), given.inputs), expected) << "allocation " << which;
      EXPECT_EQ(live_bytes(), before) << "allocation " << which;
    };
    EXPECT_GT(fail_each(stride(31), how, work, after), 5u);
  }
}

// After a failed step a generation has ended, or repeats the step with the same result.
TEST_P(EveryAllocation, OfAStepLeavesTheGenerationAsItWas) {
  if (!GetParam().generates) return;
  const auto model = load();
  for (const std::size_t beams : {1, 2}) {
    GenerationConfig config;
    config.max_new_tokens = 3;
    config.num_beams = beams;
    const auto tokens = [&](std::size_t which) {
      Generation generation(*model, given.inputs, config);
      generation.next();
      const Outcome outcome = outcome_of(which, Failing::once, [&] { generation.next(); });
      const bool ended = outcome == Outcome::refused && generation.done();
      while (!generation.done()) generation.next();
      Digest digest;
      add(digest, generation.sequences().view());
      return std::tuple(outcome, ended, digest.sum());
    };
    constexpr std::size_t kNever = ~std::size_t{0};
    const std::uint64_t expected = std::get<2>(tokens(kNever));
    Outcome outcome = Outcome::refused;
    for (std::size_t which = 1; outcome != Outcome::whole && !HasFailure(); which += stride(3)) {
      bool ended = false;
      std::uint64_t sum = 0;
      std::tie(outcome, ended, sum) = tokens(which);
      if (!ended) {
        EXPECT_EQ(sum, expected) << beams << " beams, allocation " << which;
      }
      EXPECT_NE(outcome, Outcome::untyped) << beams << " beams, allocation " << which;
    }
  }
}

TEST_P(EveryAllocation, OfInspection) {
  // A failure to allocate a tensor is one of the problems; other failures are thrown.
  const auto look = [&] {
    for (const Problem& problem : inspect(InspectedFolder::read(folder)).problems) {
      if (problem.code == ErrorCode::out_of_memory) throw Error(problem.code, "told");
    }
  };
  look();
  for (const Failing how : {Failing::once, Failing::from_on}) {
    EXPECT_GT(fail_each(stride(37), how, look, expect_no_leak()), 5u);
  }
}

INSTANTIATE_TEST_SUITE_P(Subjects, EveryAllocation, ::testing::ValuesIn(kSubjects),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace clearformer::test
