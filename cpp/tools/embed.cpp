// clearformer embed: sentence embeddings.
#include <unicode/locid.h>

#include <cmath>
#include <iostream>

#include "clearformer/loading/load_model.h"
#include "clearformer/models/sentence_pooling.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/json_writer.h"
#include "tools/text_inputs.h"

namespace clearformer::tools {

namespace {

std::string lower_case(const std::string& text) {
  return to_utf8(from_utf8(text).toLower(icu::Locale::getRoot()));
}

double cosine(const Tensor& a, const Tensor& b) {
  double product = 0.0, of_a = 0.0, of_b = 0.0;
  for (std::size_t i = 0; i < a.elements(); ++i) {
    const double x = a.f32()[i], y = b.f32()[i];
    product += x * y;
    of_a += x * x;
    of_b += y * y;
  }
  return product / std::max(std::sqrt(of_a) * std::sqrt(of_b), 1e-12);
}

std::string vector_json(const Tensor& vector) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < vector.elements(); ++i) {
    values.push_back(json_number(vector.f32()[i]));
  }
  return json_list(values);
}

std::string similarity_json(const std::vector<Tensor>& embeddings) {
  std::vector<std::string> rows;
  for (const Tensor& a : embeddings) {
    std::vector<std::string> row;
    for (const Tensor& b : embeddings) row.push_back(json_number(cosine(a, b)));
    rows.push_back(json_list(row));
  }
  return json_list(rows);
}

class Embedder {
 public:
  Embedder(const std::string& folder, MatrixFormat dtype)
      : tokenizer_(read_tokenizer(folder)),
        pooling_(SentencePooling::read(
            [&](const std::string& name) { return read_text(folder + "/" + name); })),
        model_(from_pretrained(folder, Task::base, dtype)) {}

  /// (1, D)
  Tensor embed(const std::string& text) {
    std::size_t limit = model_->config().n_ctx();
    if (pooling_.max_seq_length) limit = std::min(limit, *pooling_.max_seq_length);
    bool cut = false;
    const std::string read = pooling_.do_lower_case ? lower_case(text) : text;
    const Encoding encoding = tokenizer_.encode(read, limit, &cut);
    if (cut) std::cerr << "clearformer embed: a text is cut to " << limit << " tokens\n";
    const TextInputs inputs(*model_, encoding);
    ModelOutputs outputs = model_->forward(inputs.inputs());
    const Tensor* hidden = outputs.find("last_hidden_state");
    if (hidden == nullptr) {
      fail(ErrorCode::unsupported, "embed: a ", model_->config().model_type,
           " gives no last_hidden_state for text alone");
    }
    return pooling_.embed(*hidden, std::nullopt);
  }

 private:
  Tokenizer tokenizer_;
  SentencePooling pooling_;
  std::unique_ptr<Model> model_;
};

}  // namespace

int embed(const EmbedOptions& options, std::ostream& out) {
  Embedder embedder(options.folder, options.dtype);
  std::vector<Tensor> embeddings;
  std::vector<std::string> vectors;
  for (const std::string& text : options.texts) {
    embeddings.push_back(embedder.embed(text));
    vectors.push_back(vector_json(embeddings.back()));
  }
  JsonObject object;
  object.add("embeddings", json_list(vectors));
  if (options.similarity == EmbedOptions::Similarity::cosine) {
    object.add("similarity", similarity_json(embeddings));
  }
  out << object.done() << "\n";
  return 0;
}

}  // namespace clearformer::tools
