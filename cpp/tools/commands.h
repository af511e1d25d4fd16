// The commands and their options. Each writes its result to `out` and returns the exit code, 0 or 1; what
// cannot be done at all it throws as an Error.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "clearformer/tensor/matrix.h"

namespace clearformer::tools {

enum class Format { text, json };

struct InspectOptions {
  std::string folder;
  Format format = Format::text;
};
/// Architecture, sizes and tensors of a checkpoint, from its config and the headers of its files. 0 also
/// when something is missing: that is part of the answer.
int inspect(const InspectOptions& options, std::ostream& out);

/// Everything that is wrong with a checkpoint, a line each; 1 when there is something.
int validate(const std::string& folder, std::ostream& out);

struct GenerateOptions {
  std::string folder;
  MatrixFormat dtype = MatrixFormat::f32;
  std::optional<std::string> prompt;
  std::optional<std::vector<std::int32_t>> input_ids;
  std::string options = "{}";  // of generate(), as JSON
  /// The same one by one: upstream's name and a value as JSON, or plain text.
  std::vector<std::pair<std::string, std::string>> named;
  enum class Show { whole, continuation } show = Show::whole;
  Format format = Format::text;
};
/// Writes on. Text appears token by token where there is one sequence and no beam search.
int generate(const GenerateOptions& options, std::ostream& out);

struct EmbedOptions {
  std::string folder;
  MatrixFormat dtype = MatrixFormat::f32;
  std::vector<std::string> texts;
  enum class Similarity { none, cosine } similarity = Similarity::none;
};
/// Sentence embeddings as JSON.
int embed(const EmbedOptions& options, std::ostream& out);

struct ClassifyOptions {
  std::string folder;
  MatrixFormat dtype = MatrixFormat::f32;
  std::optional<std::string> text;
  std::optional<std::string> image;  // .pgm, .ppm, or bytes of the size that follows
  std::size_t width = 0, height = 0, channels = 0;
  std::size_t top_k = 5;
  Format format = Format::text;
};
/// The most probable labels of a text or an image.
int classify(const ClassifyOptions& options, std::ostream& out);

}  // namespace clearformer::tools
