// While a checkpoint is loaded, memory holds its weights once, in their final dtype, and at most one
// more tensor. Measured by the program's allocator (failing_memory.h).
#include <gtest/gtest.h>

#include <algorithm>

#include "allocation/failing_memory.h"
#include "clearformer/loading/load_model.h"
#include "clearformer/loading/matrix_policy.h"
#include "clearformer/models/model.h"
#include "support/random.h"
#include "support/safetensors_file.h"

namespace clearformer::test {
namespace {

// A GPT-2 checkpoint that is generated while it is read, so that the file takes no memory. Its
// projections are stored (in, out), its largest matrix is the token embedding.
constexpr std::size_t kWidth = 256, kLayers = 3, kWords = 3000, kPositions = 64;

const std::string& config() {
  static const std::string text =
      concat(R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": )", kWidth,
             R"(, "n_layer": )", kLayers, R"(, "n_head": 4, "n_positions": )", kPositions,
             R"(, "vocab_size": )", kWords, "}");
  return text;
}

struct Entry {
  std::string name;
  Shape shape;
};

std::vector<Entry> entries() {
  std::vector<Entry> all{{"wte.weight", {kWords, kWidth}}, {"wpe.weight", {kPositions, kWidth}}};
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    const auto add = [&](const char* name, std::size_t in, std::size_t out) {
      all.push_back({concat("h.", layer, ".", name, ".weight"), {in, out}});
      all.push_back({concat("h.", layer, ".", name, ".bias"), {out}});
    };
    add("attn.c_attn", kWidth, 3 * kWidth);
    add("attn.c_proj", kWidth, kWidth);
    add("mlp.c_fc", kWidth, 4 * kWidth);
    add("mlp.c_proj", 4 * kWidth, kWidth);
    for (const char* norm : {"ln_1", "ln_2"}) {
      all.push_back({concat("h.", layer, ".", norm, ".weight"), {kWidth}});
      all.push_back({concat("h.", layer, ".", norm, ".bias"), {kWidth}});
    }
  }
  all.push_back({"ln_f.weight", {kWidth}});
  all.push_back({"ln_f.bias", {kWidth}});
  return all;
}

std::uint64_t stored_bytes(const std::vector<Entry>& all) {
  std::uint64_t bytes = 0;
  for (const Entry& entry : all) bytes += entry.shape.elements() * sizeof(float);
  return bytes;
}

std::string header() {
  std::string json;
  std::size_t at = 0;
  for (const Entry& entry : entries()) {
    const std::size_t end = at + entry.shape.elements() * sizeof(float);
    json += concat(json.empty() ? "{" : ", ", "\"", entry.name, R"(": {"dtype": "F32", "shape": )",
                   entry.shape.text(), R"(, "data_offsets": [)", at, ", ", end, "]}");
    at = end;
  }
  return json + "}";
}

Weights read(MatrixFormat format) {
  CheckpointReader reader(plan_matrices(config(), std::nullopt, format));
  const std::string start = safetensors(header());
  reader.begin_file("model.safetensors", start.size() + stored_bytes(entries()));
  std::string_view rest = start;
  Random random(1);
  std::size_t at = 0;
  for (auto window = reader.window(); window.size != 0; window = reader.window()) {
    const std::size_t count = rest.empty() ? window.size : std::min(window.size, rest.size());
    if (rest.empty()) {
      // Small numbers: the lower bytes are arbitrary, the highest is that of 0.01.
      for (std::size_t i = 0; i < count; ++i) {
        window.data[i] = ++at % 4 == 0 ? 0x3c : static_cast<unsigned char>(at * 37);
      }
    } else {
      std::copy_n(rest.begin(), count, window.data);
      rest.remove_prefix(count);
    }
    reader.commit(count);
  }
  reader.end_file();
  return reader.finish();
}

class LoadingMemory : public ::testing::TestWithParam<MatrixFormat> {};

TEST_P(LoadingMemory, IsThatOfTheWeightsAndOneTensor) {
  read(GetParam());  // creates what is created once, such as tables of the library
  const std::size_t before = live_bytes();
  reset_peak();
  Weights weights = read(GetParam());
  const std::size_t most = peak_bytes() - before;
  reset_peak();
  const std::unique_ptr<Model> model = load_model(std::move(weights), config());
  const std::size_t kept = model->weight_bytes(), most_packing = peak_bytes() - before;
  // All matrices have widths that are multiples of 32, so that packing pads only the token embedding's last panel.
  constexpr std::size_t kLargestInOut = kWidth * 4 * kWidth * sizeof(float);
  constexpr std::size_t kStaging = 3 << 16, kNames = 64 << 10;
  const std::size_t panel = 32 * kWidth * sizeof(float);
  EXPECT_LE(most, kept + panel + 2 * kLargestInOut + kStaging + kNames);
  EXPECT_GE(most, kept);
  // A matrix that is not packed in place exists twice, one at a time.
  EXPECT_LE(most_packing, kept + kWords * kWidth * sizeof(float) + panel + kNames);
  if (GetParam() != MatrixFormat::f32) {
    EXPECT_LT(std::max(most, most_packing), stored_bytes(entries()) * 2 / 3);
  }
}

TEST_P(LoadingMemory, StatesTheWeightsAsTheyAreKept) {
  const std::uint64_t fp32 = stored_bytes(entries());
  const double share = static_cast<double>(load_model(read(GetParam()), config())->weight_bytes()) /
                       static_cast<double>(fp32);
  // Biases, norms and positions stay fp32: 2 % of this model.
  switch (GetParam()) {
    case MatrixFormat::f32: EXPECT_EQ(share, 1.0); break;
    case MatrixFormat::f16: EXPECT_NEAR(share, 0.5, 0.02); break;
    case MatrixFormat::q8_fine:
    case MatrixFormat::q8: EXPECT_NEAR(share, 0.25 + 0.01, 0.02); break;
    // The output layer and the stacked query, key and value projections stay q8: 44 %.
    case MatrixFormat::q4: EXPECT_NEAR(share, (0.44 * 8 + 0.56 * 4.5) / 32 + 0.01, 0.02); break;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, LoadingMemory,
                         ::testing::Values(MatrixFormat::f32, MatrixFormat::f16, MatrixFormat::q8,
                                           MatrixFormat::q4),
                         [](const auto& format) { return std::string(to_string(format.param)); });

}  // namespace
}  // namespace clearformer::test
