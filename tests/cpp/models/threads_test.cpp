// The same bits for any number of threads: whole forward passes with all intermediate values, and generations. The
// inputs are large enough that every kind of loop runs in parallel (see kLeastWork).
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "clearformer/loading/load_model.h"
#include "clearformer/tensor/thread_pool.h"
#include "support/checkpoint.h"
#include "support/files.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kThreads[] = {2, 3, 8};

void expect_bits_of_one_thread(const Tensor& found, const Tensor& expected,
                               const std::string& what) {
  ASSERT_EQ(found.shape(), expected.shape()) << what;
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), expected.view().bytes()), 0) << what;
}

void expect_same_outputs(const ModelOutputs& found, const ModelOutputs& expected,
                         const std::string& what) {
  ASSERT_EQ(found.tensors.size(), expected.tensors.size());
  auto other = expected.tensors.begin();
  for (const auto& [name, tensor] : found.tensors) {
    EXPECT_EQ(name, other->first);
    expect_bits_of_one_thread(tensor, (other++)->second, what + " " + name);
  }
}

class Threads : public ::testing::TestWithParam<const char*> {
 protected:
  void TearDown() override { set_num_threads(1); }
};

TEST_P(Threads, LeaveEveryOutputAndHookAsItIs) {
  const std::string group = std::string("models/") + GetParam();
  std::size_t models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(fixture_path(group))) {
    if (!entry.is_directory() || !std::filesystem::exists(entry.path() / "config.json")) continue;
    ++models;
    const auto model = load_folder(entry.path().string(), "config.json", Task::base);
    const std::size_t length = std::min<std::size_t>(model->config().n_ctx(), 40);
    const Tensor ids = random_ids(7, 24, length, model->config().d_vocab());
    ModelInputs inputs = inputs_of(ids);
    if (model->config().kind == ModelKind::encoder_decoder) inputs.decoder_input_ids = ids.view();
    set_num_threads(1);
    const ModelOutputs alone = model->forward(inputs);
    Trace all_alone;
    all_alone.capture("*");
    model->forward(inputs, &all_alone);
    for (const std::size_t count : kThreads) {
      set_num_threads(count);
      const std::string what = entry.path().filename().string() + concat(", ", count, " threads");
      expect_same_outputs(model->forward(inputs), alone, what);
      Trace all;
      all.capture("*");
      expect_same_outputs(model->forward(inputs, &all), alone, what);
      ASSERT_EQ(all.captured().size(), all_alone.captured().size());
      for (std::size_t i = 0; i < all.captured().size(); ++i) {
        expect_bits_of_one_thread(all.captured()[i].value, all_alone.captured()[i].value,
                                  what + " " + all.captured()[i].name);
      }
    }
  }
  EXPECT_GE(models, 2u);
}

INSTANTIATE_TEST_SUITE_P(All, Threads,
                         ::testing::Values("bert", "distilbert", "gemma2", "gpt2", "marian",
                                           "modernbert", "phi", "qwen3", "t5"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ThreadsOfAStory, LeaveItsTokensAsTheyAre) {
  const auto model = from_pretrained(bundled_model("stories260K"));
  const Tensor ids = random_ids(3, 32, 24, 512);
  GenerationConfig config;
  config.max_new_tokens = 40;
  config.eos_token_ids.clear();
  config.do_sample = true;
  config.seed = 5;
  set_num_threads(1);
  const auto alone = generate(*model, ids, config);
  for (const std::size_t count : kThreads) {
    set_num_threads(count);
    EXPECT_EQ(generate(*model, ids, config), alone) << count << " threads";
  }
  set_num_threads(1);
}

#if !defined(__EMSCRIPTEN__)

// Products of floats and of integers, attention with and without its pattern, the loss and their backward passes: each
// has memory per worker.
TEST(ThreadsOfAStory, MayChangeInNumberWhileItIsRead) {
  for (const MatrixFormat format : {MatrixFormat::f32, MatrixFormat::q8}) {
    const auto model = from_pretrained(bundled_model("stories260K"), std::nullopt, format);
    const Tensor ids = random_ids(9, 16, 40, 512);
    const ModelInputs inputs = inputs_of(ids);
    const auto pass = [&] {
      Trace trace;
      trace.capture("blocks.1.attn.hook_pattern");
      Gradient gradient;
      LabelLoss loss;
      loss.labels = ids.clone();
      gradient.add(std::move(loss));
      gradient.want("blocks.0.hook_resid_pre");
      gradient.want_weights("*");
      model->gradient(inputs, trace, gradient);
      return gradient.at("blocks.0.hook_resid_pre").clone();
    };
    set_num_threads(1);
    const Tensor alone = pass();
    std::atomic<bool> done{false};
    std::thread changes([&] {
      for (std::size_t count = 0; !done; ++count) set_num_threads(1 + count * 5 % 8);
    });
    for (int round = 0; round < 4; ++round) {
      expect_bits_of_one_thread(pass(), alone, concat("round ", round));
    }
    done = true;
    changes.join();
    set_num_threads(1);
  }
}

#endif

}  // namespace
}  // namespace clearformer::test
