// The memory of a pass as it is known before: what the arena of every architecture holds, weights that layers share.
#include "clearformer/models/cost.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/architectures.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kCostBatch = 64, kPositions = 20;

// Inputs of a tower in its largest usual size.
struct Given {
  explicit Given(const TowerConfig& tower) {
    if (tower.image) {
      const ImageEmbeddingConfig& image = *tower.image;
      const bool sound = tower.reads_spectrograms();
      values = Tensor::zeros(
          sound ? Shape{kCostBatch, image.image_width, image.image_height}
                : Shape{kCostBatch, image.patch.channels, image.image_height, image.image_width});
      (sound ? inputs.input_values : inputs.pixel_values) = values.view();
      pass = {{}, kCostBatch, image.prefix() + image.grid().patches()};
    } else if (tower.audio) {
      values = Tensor::zeros({8, tower.audio->mel_bins, 2 * tower.audio->positions});
      inputs.input_features = values.view();
      pass = {{}, 8, tower.audio->positions};
    } else {
      const std::size_t length = std::min(kPositions, tower.longest());
      values = Tensor::zeros({kCostBatch, length}, DType::i32);
      auto* ids = values.mutable_view().as<std::int32_t>();
      // One token in all positions chooses the same experts everywhere, which is the most.
      const std::size_t tokens = tower.stack.block.feed_forward.router.experts == 0 ? 20 : 1;
      for (std::size_t i = 0; i < values.elements(); ++i) ids[i] = 5 + static_cast<int>(i % tokens);
      inputs.input_ids = values.view();
      pass = {{}, kCostBatch, length};
    }
  }
  Tensor values;
  ModelInputs inputs;
  PassSize pass;
};

void expect_use(const char* what, std::size_t used, std::uint64_t told) {
  // Scores of a block and the alignment of some 20 tensors come on top; embeddings' tables are smaller than a block.
  EXPECT_LE(used, told + 64 * 1024) << what;
  EXPECT_GE(static_cast<double>(used), 0.93 * static_cast<double>(told)) << what;
}

// The first pass of a generation, or of a model that generates nothing.
TEST(Cost, IsWhatTheArenaOfEveryArchitectureHolds) {
  for (const char* architecture : kArchitectures) {
    const std::string folder = concat("models/", architecture);
    const Fixture fixture(folder);
    const auto model = model_of(folder, fixture.cases().front());
    SCOPED_TRACE(concat(folder, "/", fixture.cases().front().option("checkpoint").string()));
    const ModelConfig& config = model->config();
    Given given(config.tower);
    std::optional<KeyValueCache> cache;
    if (cache_bytes(config).per_position != 0) cache.emplace(model->make_cache());
    given.inputs.cache = cache ? &*cache : nullptr;
    const bool reads_source = config.kind == ModelKind::encoder_decoder;
    given.pass.cached = cache && !reads_source;
    const auto pass = reads_source ? model->start_encoding(given.inputs, nullptr)
                                   : model->start(given.inputs, nullptr);
    while (pass->step()) continue;
    expect_use("first pass", model->workspace_used(), arena_bytes(config.tower, given.pass));
    EXPECT_LE(model->workspace_bytes(), arena_bytes(config.tower, given.pass) + 129 * 1024)
        << "one block of that size is not enough";
  }
}

// All layers of a group read the same weights: they are in memory as often as in the file.
TEST(Cost, OfAlbertCountsTheSharedBlockOnce) {
  const std::string folder = "models/albert";
  const Fixture fixture(folder);
  std::size_t shared = 0;
  for (const Case& reference : fixture.cases()) {
    const auto model = model_of(folder, reference);
    const StackConfig& stack = model->config().tower.stack;
    std::uint64_t elements = 0;
    for (const Parameters::Listed& parameter : model->parameters().list()) {
      elements += parameter.shape.elements();
    }
    EXPECT_EQ(model->weight_bytes(), elements * sizeof(float));
    shared += stack.block_used(stack.layers - 1) < stack.layers - 1 ? 1 : 0;
  }
  EXPECT_GT(shared, 0u) << "no checkpoint shares a block";
}

}  // namespace
}  // namespace clearformer::test
