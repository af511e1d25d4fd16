// clearformer generate: a model writes on.
#include <algorithm>

#include "clearformer/generation/generation.h"
#include "clearformer/loading/load_model.h"
#include "tools/commands.h"
#include "tools/generation_defaults.h"
#include "tools/json_writer.h"
#include "tools/text_stream.h"
#include "tools/token_tensor.h"

namespace clearformer::tools {

namespace {

class Run {
 public:
  Run(const GenerateOptions& options, std::ostream& out)
      : options_(options),
        out_(out),
        model_(from_pretrained(options.folder, std::nullopt, options.dtype)) {
    if (options.prompt || !options.input_ids) tokenizer_.emplace(read_tokenizer(options.folder));
    config_ = generation_config(options, model_->config());
    std::swap(stop_strings_, config_.stop_strings);  // the library leaves these to its caller
    check();
    if (!stop_strings_.empty() && !tokenizer_) tokenizer_.emplace(read_tokenizer(options.folder));
    read_prompt();
  }

  void run() {
    ModelInputs inputs;
    const Tensor ids = token_tensor(prompt_);
    if (!prompt_.empty()) inputs.input_ids = ids.view();
    Generation generation(*model_, inputs, config_);
    const bool streams = options_.format == Format::text && tokenizer_ && config_.num_beams == 1 &&
                         generation.returned() == 1;
    if (streams) {
      stream(generation);
      return;
    }
    while (!generation.done()) stop_where_asked(generation, generation.next().tokens);
    if (options_.format == Format::json) {
      print_json(generation);
    } else {
      print(generation);
    }
  }

 private:
  bool is_encoder_decoder() const { return model_->config().kind == ModelKind::encoder_decoder; }

  void check() const {
    if (model_->config().tower.audio) {
      fail(ErrorCode::unsupported, "generate: a ", model_->config().model_type,
           " reads sound, which this command does not take");
    }
    if (!stop_strings_.empty() && config_.num_beams > 1) {
      fail(ErrorCode::unsupported, "generate: stop_strings cannot be used with num_beams > 1");
    }
  }

  void read_prompt() {
    if (options_.input_ids) {
      prompt_ = *options_.input_ids;
    } else if (options_.prompt) {
      prompt_ = tokenizer_->encode(*options_.prompt).ids;
    }
  }

  void stream(Generation& generation) {
    TextStream text(*tokenizer_, out_);
    if (!is_encoder_decoder() && options_.show == GenerateOptions::Show::whole) text.put(prompt_);
    while (!generation.done()) {
      const Ids tokens = generation.next().tokens;
      text.put(tokens);
      stop_where_asked(generation, tokens);
    }
    text.end();
  }

  // Ends the sequences whose new text holds a stop string.
  void stop_where_asked(Generation& generation, const Ids& tokens) {
    if (stop_strings_.empty()) return;
    made_.resize(tokens.size());
    for (std::size_t row = 0; row < tokens.size(); ++row) {
      made_[row].push_back(tokens[row]);
      const std::string text = tokenizer_->decode(made_[row]);
      const bool stops = std::any_of(
          stop_strings_.begin(), stop_strings_.end(),
          [&](const std::string& stop) { return text.find(stop) != std::string::npos; });
      if (stops && !generation.done()) generation.end(row);
    }
  }

  // A row up to the token that ends it; without its prompt where that is not wanted.
  std::vector<Ids> rows_of(const Generation& generation) const {
    const Tensor sequences = generation.sequences();  // (rows, L)
    const std::size_t length = sequences.dim(1);
    const std::size_t prompt = is_encoder_decoder() ? 1 : std::min(prompt_.size(), length);
    std::vector<Ids> rows;
    for (std::size_t row = 0; row < sequences.dim(0); ++row) {
      const auto* first = sequences.view().as<std::int32_t>() + row * length;
      const auto* last = std::find_if(first + std::min(prompt, length), first + length,
                                      [this](std::int32_t id) { return is_end(id); });
      if (last != first + length) ++last;
      const bool whole = is_encoder_decoder() || options_.show == GenerateOptions::Show::whole;
      rows.emplace_back(whole ? first : first + prompt, last);
    }
    return rows;
  }

  bool is_end(std::int32_t id) const {
    return std::find(config_.eos_token_ids.begin(), config_.eos_token_ids.end(), id) !=
           config_.eos_token_ids.end();
  }

  std::string spelled(const Ids& ids) const {
    if (tokenizer_) return tokenizer_->decode(ids);
    std::string text;
    for (const std::int32_t id : ids) text += concat(text.empty() ? "" : ",", id);
    return text;
  }

  void print(const Generation& generation) {
    for (const Ids& row : rows_of(generation)) out_ << spelled(row) << "\n";
  }

  void print_json(const Generation& generation) {
    std::vector<std::string> sequences, texts, scores;
    for (const Ids& row : rows_of(generation)) {
      sequences.push_back(json_integers(row));
      if (tokenizer_) texts.push_back(tokenizer_->decode(row));
    }
    JsonObject object;
    object.add("sequences", json_list(sequences));
    if (tokenizer_) object.add("texts", json_strings(texts));
    const Tensor found = generation.sequences_scores();
    for (std::size_t i = 0; !found.empty() && i < found.elements(); ++i) {
      scores.push_back(json_number(found.f32()[i]));
    }
    if (!scores.empty()) object.add("sequences_scores", json_list(scores));
    out_ << object.done() << "\n";
  }

  const GenerateOptions& options_;
  std::ostream& out_;
  std::unique_ptr<Model> model_;
  std::optional<Tokenizer> tokenizer_;
  GenerationConfig config_;
  std::vector<std::string> stop_strings_;
  Ids prompt_;             // of an encoder-decoder the source
  std::vector<Ids> made_;  // the new tokens of each row, where stop strings are looked for
};

}  // namespace

int generate(const GenerateOptions& options, std::ostream& out) {
  Run(options, out).run();
  return 0;
}

}  // namespace clearformer::tools
