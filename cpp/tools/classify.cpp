// clearformer classify: the most probable labels of a text or an image.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "clearformer/loading/load_model.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/image_processor.h"
#include "tools/json_writer.h"
#include "tools/text_inputs.h"

namespace clearformer::tools {

namespace {

using Scores = std::vector<double>;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

Scores softmax(Scores scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0.0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
  return scores;
}

// As upstream's pipeline: labels that do not exclude each other have probabilities of their own, and a
// regression has none.
Scores probabilities(const Tensor& logits, const ConfigReader& config) {
  Scores scores(logits.f32(), logits.f32() + logits.elements());
  const std::string problem = config.text("problem_type", "");
  if (problem == "regression") return scores;
  if (problem != "multi_label_classification" && scores.size() > 1) return softmax(scores);
  std::transform(scores.begin(), scores.end(), scores.begin(), sigmoid);
  return scores;
}

std::string label_of(const ConfigReader& config, std::size_t id) {
  const Json* names = config.root().find_set("id2label");
  const Json* name = names == nullptr ? nullptr : names->find(std::to_string(id));
  return name != nullptr && name->is_string() ? name->string() : concat("LABEL_", id);
}

Tensor logits_of_text(const ClassifyOptions& options) {
  const Tokenizer tokenizer = read_tokenizer(options.folder);
  const auto model = from_pretrained(options.folder, Task::sequence_classification, options.dtype);
  const TextInputs inputs(*model, tokenizer.encode(*options.text));
  return std::move(model->forward(inputs.inputs()).at("logits"));
}

Tensor logits_of_image(const ClassifyOptions& options) {
  const std::string preprocessor = require_text(options.folder + "/preprocessor_config.json");
  const bool raw = options.width != 0 || options.height != 0 || options.channels != 0;
  const Image image =
      raw ? read_raw(*options.image, options.width, options.height, options.channels)
          : read_pnm(*options.image);
  const auto model = from_pretrained(options.folder, Task::image_classification, options.dtype);
  const ImageProcessor processor(preprocessor, model->config().model_type);
  const Tensor pixels = processor.pixel_values(image, model->config().tower.image->patch.channels);
  ModelInputs inputs;
  inputs.pixel_values = pixels.view();
  return std::move(model->forward(inputs).at("logits"));
}

}  // namespace

int classify(const ClassifyOptions& options, std::ostream& out) {
  const std::string text = require_text(options.folder + "/config.json");
  const ConfigReader config(text, "config.json");
  const Tensor logits = options.text ? logits_of_text(options) : logits_of_image(options);
  const Scores scores = probabilities(logits, config);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  order.resize(std::min(order.size(), options.top_k));
  std::vector<std::string> entries;
  for (const std::size_t id : order) {
    const auto score = static_cast<float>(scores[id]);
    JsonObject entry;
    entry.text("label", label_of(config, id)).add("score", json_number(score));
    entries.push_back(entry.done());
    if (options.format == Format::text)
      out << json_number(score) << "\t" << label_of(config, id) << "\n";
  }
  if (options.format == Format::json) out << json_list(entries) << "\n";
  return 0;
}

}  // namespace clearformer::tools
