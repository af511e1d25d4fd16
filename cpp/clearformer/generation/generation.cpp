#include "clearformer/generation/generation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "clearformer/models/cost.h"
#include "clearformer/tensor/memory_budget.h"
#include "clearformer/tensor/typed_memory.h"

namespace clearformer {

namespace {

// Maximum sequence length, prompt included.
std::size_t max_length_of(const GenerationConfig& config, std::size_t prompt, std::size_t longest) {
  constexpr std::size_t kUsualNewTokens = 20;
  std::size_t length = std::min(prompt + kUsualNewTokens, longest);
  if (config.max_length) length = *config.max_length;
  if (config.max_new_tokens) length = prompt + *config.max_new_tokens;
  if (config.max_new_tokens == 0u) {
    fail(ErrorCode::invalid_argument, "generate: max_new_tokens must be at least 1");
  }
  if (length <= prompt) {
    fail(ErrorCode::invalid_argument, "generate: the prompt has ", prompt,
         " tokens, max_length allows ", length, " in all; set max_new_tokens");
  }
  if (length > longest + 1) {  // the last token is not fed back
    fail(ErrorCode::invalid_argument, "generate: ", prompt, " prompt tokens and ", length - prompt,
         " new ones exceed the model's ", longest, " positions");
  }
  return length;
}

// Appends a column of ones to (rows, columns) uint8.
Tensor grown(const Tensor& mask) {
  const std::size_t rows = mask.dim(0), columns = mask.dim(1);
  Tensor larger({rows, columns + 1}, DType::u8);
  auto* to = larger.mutable_view().as<std::uint8_t>();
  const auto* from = mask.view().as<std::uint8_t>();
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * (columns + 1), from + row * columns, columns);
    to[row * (columns + 1) + columns] = 1;
  }
  return larger;
}

// Repeats every row `times` times: a, a, b, b, …
Tensor repeated(const Tensor& rows, std::size_t times) {
  Tensor all({rows.dim(0) * times, rows.dim(1)}, rows.dtype());
  const std::size_t bytes = rows.dim(1) * size_of(rows.dtype());
  for (std::size_t row = 0; row < all.dim(0); ++row) {
    std::memcpy(static_cast<char*>(all.data()) + row * bytes,
                static_cast<const char*>(rows.data()) + row / times * bytes, bytes);
  }
  return all;
}

std::shared_ptr<const GenerationConfig> checked(GenerationConfig&& config) {
  config.check();
  return std::make_shared<const GenerationConfig>(std::move(config));
}

// 1 GiB, of which several copies must fit in WebAssembly's 4 GiB.
constexpr std::size_t kMostScores = std::size_t{1} << 28;

// The rows as an int32 tensor, with short ones padded.
Tensor padded(const std::vector<TokenSpan>& rows, std::int32_t fill) {
  std::size_t length = 0;
  for (const TokenSpan& row : rows) length = std::max(length, row.size());
  Tensor all({rows.size(), length}, DType::i32);
  auto* to = all.mutable_view().as<std::int32_t>();
  for (const TokenSpan& row : rows) {
    to = std::copy(row.begin(), row.end(), to);
    to = std::fill_n(to, length - row.size(), fill);
  }
  return all;
}

}  // namespace

Generation::Generation(Model& model, const ModelInputs& inputs, GenerationConfig config) try
    : model_(model),
      config_(checked(std::move(config))),
      prompt_(read_prompt(model, inputs, *config_)),
      max_length_(max_length_of(*config_, prompt_.tokens.front().size(), model.config().longest())),
      processors_(config_, prompt_.tokens.front().size(), max_length_, model.config().d_vocab()),
      branches_(std::max(config_->num_beams, config_->num_return_sequences)),
      own_cache_(inputs.cache == nullptr ? std::make_unique<KeyValueCache>(model.make_cache())
                                         : nullptr),
      cache_(inputs.cache == nullptr ? own_cache_.get() : inputs.cache),
      rows_(prompt_.tokens) {
  const bool reads_source =
      config_->encoder_no_repeat_ngram_size != 0 || config_->encoder_repetition_penalty != 1.0;
  if (prompt_.encoder.empty() && reads_source) {
    fail(ErrorCode::invalid_argument,
         "generate: encoder_no_repeat_ngram_size and encoder_repetition_penalty need input_ids");
  }
  const std::size_t past = cache_->length(), length = rows_.front().size();
  if (past >= length) {
    fail(ErrorCode::invalid_argument, "generate: past_key_values hold ", past,
         " positions, the prompt has ", length, "; crop them, so that there is one left to read");
  }
  read_ = past;
  const Shape scores{rows_.size(), branches_, model.config().d_vocab()};
  if (scores.elements() > kMostScores) {
    fail(ErrorCode::out_of_memory,
         "generate: a token's scores [prompt, beam or sequence, vocabulary] = ", scores.text(),
         " are more than ", kMostScores, ": ask for fewer prompts, beams or sequences");
  }
  expect_memory();
  if (config_->num_beams > 1) {
    search_.emplace(config_, prompt_.tokens, max_length_, model.config().d_vocab());
  }
  encoded_ = model.config().kind != ModelKind::encoder_decoder;
  for (const InputName& name : kInputNames) {
    const ModelInputs::Input& input = inputs.*name.member;
    if (encoded_ || !input) continue;
    source_.push_back(Tensor::copy_of(*input));
    source_inputs_.*name.member = source_.back().view();
  }
  source_inputs_.cache = cache_;
} catch (...) {
  typed_memory([] { throw; });
}

// Keys and values of all tokens that may be generated, plus two copies of a token's scores.
void Generation::expect_memory() const {
  const CacheBytes bytes = cache_bytes(model_.config());
  const std::uint64_t rows = std::uint64_t{rows_.size()} * branches_;
  const std::uint64_t prompt = rows_.front().size();
  const std::uint64_t source = prompt_.encoder.empty() ? 0 : prompt_.encoder.front().size();
  const std::uint64_t fixed = rows * (2 * sizeof(float) * model_.config().d_vocab() +
                                      source * bytes.per_source_position + bytes.per_sequence);
  const std::uint64_t position = rows * (bytes.per_position + sizeof(std::int32_t));
  const std::uint64_t held = cache_->bytes(), left = bounded_sum(memory_budget().left(), held);
  const std::uint64_t fit = left <= fixed ? 0 : (left - fixed) / position;
  if (max_length_ <= fit) return;
  const std::uint64_t all = bounded_sum(bounded_product(position, max_length_), fixed);
  clearformer::expect_memory(all - held,
                             concat("generate: keys, values and scores of ", rows,
                                    " sequences of up to ", max_length_, " tokens take"),
                             fit > prompt
                                 ? concat("; max_new_tokens up to ", fit - prompt, " fit")
                                 : std::string("; ask for fewer prompts, beams or sequences"));
}

bool Generation::is_end(std::int32_t token) const {
  const auto& ids = config_->eos_token_ids;
  return std::find(ids.begin(), ids.end(), token) != ids.end();
}

bool Generation::out_of_time() const {
  return config_->max_time && time_.seconds() > *config_->max_time;
}

TokenSpan Generation::tokens_of(std::size_t row) const {
  return search_ && made_ != 0 ? search_->running()[row].tokens : rows_[row];
}

void Generation::begin(Trace* trace) {
  if (!encoded_) {
    pass_ = model_.start_encoding(source_inputs_, trace);
    if (pass_) return;  // otherwise the cache holds the encoder's output
    encoded_ = true;
  }
  if (past_ = cache_->length(); past_ > read_) {
    fail(ErrorCode::invalid_argument, "generate: past_key_values held ", read_,
         " positions and hold ", past_, " now: another call has used them meanwhile");
  }
  const std::size_t rows = made_ == 0 ? rows_.size() : samplers_.size();
  const std::size_t length = tokens_of(0).size();
  const double renewed = model_.config().tower.renews_keys_beyond;
  if (static_cast<double>(past_) <= renewed && static_cast<double>(length) > renewed) {
    cache_->crop(past_ = 0);
  }
  const std::size_t fresh = length - past_;
  input_ = Tensor({rows, fresh}, DType::i32);
  for (std::size_t row = 0; row < rows; ++row) {
    const TokenSpan tokens = tokens_of(row).last(fresh);
    std::copy(tokens.begin(), tokens.end(), input_.mutable_view().as<std::int32_t>() + row * fresh);
  }
  ModelInputs inputs;
  inputs.input_ids = input_.view();
  if (!prompt_.mask.empty()) {
    inputs.attention_mask = prompt_.mask.view();
    if (model_.config().kind == ModelKind::decoder_only) {
      positions_ = positions_from(prompt_.mask, past_, prompt_.tokens.front().size());
      inputs.position_ids = positions_.view();
    }
  }
  inputs.cache = cache_;
  inputs.logits_to_keep = {-1};
  pass_ = model_.start_step(inputs, trace);
}

bool Generation::advance(Trace* trace) {
  return typed_memory([&] { return compute_layer(trace); });
}

bool Generation::compute_layer(Trace* trace) {
  if (done_) fail(ErrorCode::invalid_argument, "generate: this generation is complete");
  try {
    if (!pass_ && !held_) begin(trace);
    if (!held_ && pass_->step()) return false;
  } catch (...) {
    pass_.reset();  // leaves the cache unchanged
    throw;
  }
  if (!encoded_) {
    encoded_ = true;
    pass_.reset();
    source_.clear();
    source_inputs_ = {};
    begin(trace);
    return false;
  }
  try {
    if (trace != nullptr) trace->check_all_met();
    complete();
  } catch (...) {  // no token can be chosen: the generation cannot continue
    done_ = true;
    undo_step();
    throw;
  }
  return true;
}

Generation::Step Generation::next(Trace* trace) {
  while (!advance(trace) || held_) continue;
  return std::exchange(step_, {});
}

void Generation::abandon() {
  pass_.reset();
  if (held_) typed_memory([this] { undo_step(); });
}

Generation::~Generation() {
  try {
    abandon();
  } catch (const Error&) {  // no memory for the prompts' rows: the cache keeps the sequences'
  }
}

// Takes back what a step whose pass is complete has done before it chose tokens.
void Generation::undo_step() {
  held_ = false;
  cache_->crop(past_);
  if (made_ != 0 || samplers_.empty()) return;
  samplers_.clear();
  ended_.clear();
  if (branches_ == 1) return;
  std::vector<std::size_t> firsts;
  for (std::size_t row = 0; row < prompt_.tokens.size(); ++row) firsts.push_back(row * branches_);
  rows_ = prompt_.tokens;
  cache_->select(firsts);
}

void Generation::complete() {
  if (!held_) {
    process();
    held_ = holds_;
    if (held_) return;
  }
  held_ = false;
  const Shape expected{rows_.size(), model_.config().d_vocab()};
  if (!(step_.scores.shape() == expected)) {
    fail(ErrorCode::shape_mismatch, "generate: scores of shape ", step_.scores.shape().text(),
         ", expected ", expected.text());
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) processors_.finish(scores_of(row));
  if (search_) {
    choose_beams();
  } else {
    choose();
  }
  if (!prompt_.mask.empty()) {
    prompt_.mask = grown(made_ == 0 ? repeated(prompt_.mask, branches_) : std::move(prompt_.mask));
  }
  read_ = past_ + input_.dim(1);
  ++made_;
  step_.done = done_;
}

// After the prompt has been processed once: from here on there are `branches_` sequences per prompt.
void Generation::branch() {
  const std::size_t count = rows_.size() * branches_;
  for (std::size_t row = 0; row < count; ++row) samplers_.emplace_back(config_->seed + row);
  ended_.assign(count, 0);
  if (branches_ == 1) return;
  std::vector<std::size_t> origin;
  std::vector<TokenIds> rows;
  for (std::size_t row = 0; row < count; ++row) {
    origin.push_back(row / branches_);
    rows.push_back(rows_[origin.back()]);
  }
  cache_->select(origin);
  rows_ = std::move(rows);
  step_.logits = repeated(step_.logits, branches_);
}

Scores Generation::scores_of(std::size_t row) {
  const std::size_t vocabulary = step_.scores.dim(1);
  return {step_.scores.f32() + row * vocabulary, vocabulary};
}

// Turns the pass's logits into scores.
void Generation::process() {
  step_ = {};
  step_.logits = std::move(pass_->outputs().at("logits"));
  pass_.reset();
  step_.logits.reshape({step_.logits.dim(0), model_.config().d_vocab()});
  if (made_ == 0) branch();
  step_.scores = step_.logits.clone();
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (search_) normalize(scores_of(row));
    const TokenSpan encoder =
        prompt_.encoder.empty() ? TokenSpan() : TokenSpan(prompt_.encoder[row / branches_]);
    processors_.apply(scores_of(row), tokens_of(row), encoder);
  }
}

void Generation::choose() {
  bool all_ended = true;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const Scores scores = scores_of(row);
    const bool pads = config_->pad_token_id || !config_->eos_token_ids.empty();
    std::int32_t token = 0;
    if (ended_[row] != 0 && pads) {
      token = config_->pad_token_id ? *config_->pad_token_id : config_->eos_token_ids.front();
    } else {
      token = config_->do_sample ? samplers_[row].draw(scores) : largest(scores);
    }
    ended_[row] = ended_[row] != 0 || is_end(token) ? 1 : 0;
    all_ended = all_ended && ended_[row] != 0;
    step_.tokens.push_back(token);
    rows_[row].push_back(token);
  }
  done_ = all_ended || rows_.front().size() == max_length_ || out_of_time();
}

void Generation::choose_beams() {
  search_->advance({step_.scores.f32(), step_.scores.elements()}, out_of_time());
  std::vector<std::size_t> parents;
  for (const BeamSearch::Beam& beam : search_->running()) {
    step_.tokens.push_back(beam.tokens.back());
    step_.beam_indices.push_back(beam.beams.back());
    step_.beam_scores.push_back(beam.score);
    parents.push_back(static_cast<std::size_t>(beam.beams.back()));
  }
  cache_->select(parents);
  done_ = search_->done();
}

void Generation::end(std::size_t row) {
  if (search_) fail(ErrorCode::unsupported, "generate: sequences of a beam search end by tokens");
  if (row >= ended_.size()) {
    fail(ErrorCode::invalid_argument, "generate: there is no sequence ", row, " yet");
  }
  ended_[row] = 1;
  done_ = done_ || std::find(ended_.begin(), ended_.end(), 0) == ended_.end();
}

std::size_t Generation::returned() const {
  return prompt_.tokens.size() * config_->num_return_sequences;
}

Tensor Generation::sequences() const {
  return typed_memory([&] {
    std::vector<TokenSpan> rows;
    if (!search_) {
      for (const TokenIds& row : rows_) rows.push_back(row);
      return padded(rows, 0);  // they have equal length
    }
    for (const BeamSearch::Beam* beam : search_->results()) rows.push_back(beam->tokens);
    return padded(rows, search_->fill());
  });
}

Tensor Generation::sequences_scores() const {
  if (!search_) return {};
  Tensor scores({returned()});
  float* to = scores.f32();
  for (const BeamSearch::Beam* beam : search_->results()) *to++ = beam->score;
  return scores;
}

Tensor Generation::beam_indices() const {
  if (!search_) return {};
  std::vector<TokenSpan> rows;
  for (const BeamSearch::Beam* beam : search_->results()) rows.push_back(beam->beams);
  return padded(rows, -1);
}

}  // namespace clearformer
