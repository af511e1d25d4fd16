// Target: a whole checkpoint of any architecture, with damaged config.json and weights, loaded in some format and
// run. Input: a byte for the tiny checkpoint, one for the format, the text of config.json up to a NUL, then damage
// to model.safetensors: repeatedly three bytes for the position and one for the new value.
#include <algorithm>

#include "clearformer/generation/generation.h"
#include "support/files.h"
#include "targets.h"
#include "tiny.h"

namespace clearformer::fuzz {

namespace {

constexpr MatrixFormat kFormats[] = {MatrixFormat::f32, MatrixFormat::f16, MatrixFormat::q8,
                                     MatrixFormat::q4};
constexpr std::size_t kDamagedBytes = 32;

void damage(std::string& file, std::string_view script) {
  script = script.substr(0, 4 * kDamagedBytes);
  for (; script.size() >= 4; script.remove_prefix(4)) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(script[i]); };
    const std::size_t place = byte(0) | std::size_t{byte(1)} << 8 | std::size_t{byte(2)} << 16;
    file[place % file.size()] = script[3];
  }
}

void generate(Model& model, const ModelInputs& inputs) {
  constexpr std::size_t kSteps = 2;
  GenerationConfig config;
  config.max_new_tokens = kSteps;
  Generation generation(model, inputs, config);
  for (std::size_t step = 0; step < kSteps && !generation.done(); ++step) {
    for (const std::int32_t token : generation.next().tokens) {
      promise(token >= 0 && static_cast<std::size_t>(token) < model.config().d_vocab(),
              "a token that the vocabulary does not have");
    }
  }
}

std::string input(std::size_t folder, char format, std::string_view script) {
  std::string text{static_cast<char>(folder), format};
  text += test::read_bytes(test::fixture_path("models/" + tiny_folders()[folder] + "/config.json"));
  text += '\0';
  return text.append(script);
}

}  // namespace

void run_model(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const Tiny& checkpoint = tiny(byte(0) % tiny_folders().size());
  const MatrixFormat format = kFormats[byte(1) % std::size(kFormats)];
  const std::size_t end = std::min(bytes.find('\0', 2), bytes.size());
  const std::string config(bytes.substr(2, end - 2));
  std::string weights = checkpoint.weights;
  if (end < bytes.size()) damage(weights, bytes.substr(end + 1));
  try {
    const auto model = load_tiny(checkpoint, config, weights, format);
    const ModelInputs& inputs = checkpoint.given.inputs;
    const ModelOutputs first = model->forward(inputs);
    expect_same(model->forward(inputs), first, "the second pass differs from the first");
    Trace all;
    all.capture("*");
    expect_same(model->forward(inputs, &all), first, "being watched changes the result");
    generate(*model, inputs);
  } catch (const Error& error) {
    promise(*error.what() != '\0', "a refusal says nothing");
  }
}

std::vector<std::string> model_seeds() {
  std::vector<std::string> seeds;
  for (std::size_t folder = 0; folder < tiny_folders().size(); ++folder) {
    seeds.push_back(input(folder, static_cast<char>(folder % std::size(kFormats)), ""));
    seeds.push_back(input(folder, 0, std::string_view("\x00\x70\x00\x7f\x81\x71\x00\xff", 8)));
  }
  return seeds;
}

}  // namespace clearformer::fuzz
