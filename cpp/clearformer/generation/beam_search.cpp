#include "clearformer/generation/beam_search.h"

#include <algorithm>

#include "clearformer/tensor/portable_math.h"

namespace clearformer {

namespace {

// Added to the scores of excluded candidates. Finite, as upstream: without a better candidate an excluded one is
// still chosen.
constexpr float kRuledOut = -1e9f;

// All beams start equal; only the first of each item counts.
std::vector<BeamSearch::Beam> first_beams(const std::vector<TokenIds>& prompts, std::size_t beams,
                                          float first_score) {
  std::vector<BeamSearch::Beam> all;
  for (const TokenIds& prompt : prompts) {
    for (std::size_t beam = 0; beam < beams; ++beam) {
      all.push_back({prompt, {}, beam == 0 ? first_score : kRuledOut, false});
    }
  }
  return all;
}

}  // namespace

BeamSearch::BeamSearch(std::shared_ptr<const GenerationConfig> config,
                       const std::vector<TokenIds>& prompts, std::size_t max_length,
                       std::size_t vocabulary)
    : config_(std::move(config)),
      beams_(config_->num_beams),
      prompt_length_(prompts.front().size()),
      max_length_(max_length),
      vocabulary_(vocabulary),
      running_(first_beams(prompts, beams_, 0.0f)),
      finished_(first_beams(prompts, beams_, kRuledOut)),
      improvable_(prompts.size(), 1) {
  const std::size_t wanted = std::max<std::size_t>(2, 1 + config_->eos_token_ids.size());
  if (wanted > vocabulary_) {
    fail(ErrorCode::invalid_argument, "generate: beam search looks at ", wanted,
         " continuations a beam, the vocabulary has ", vocabulary_);
  }
  for (std::size_t item = 0; item < prompts.size(); ++item) {
    samplers_.emplace_back(config_->seed + item);
  }
}

float BeamSearch::penalty(std::size_t new_tokens) const {
  if (config_->length_penalty == 0.0) return 1.0f;
  return static_cast<float>(portable_pow(static_cast<double>(new_tokens), config_->length_penalty));
}

bool BeamSearch::all_finished(std::size_t item) const {
  const auto first = finished_.begin() + static_cast<std::ptrdiff_t>(item * beams_);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(beams_),
                     [](const Beam& beam) { return beam.finished; });
}

// Draws enough candidates that num_beams of them continue, however many end.
std::vector<BeamSearch::Candidate> BeamSearch::candidates(std::size_t item,
                                                          std::span<const float> log_probs,
                                                          bool last) {
  const TokenIds& ends = config_->eos_token_ids;
  const std::size_t count = std::max<std::size_t>(2, 1 + ends.size()) * beams_;
  const std::size_t first_row = item * beams_;
  std::vector<float> sums(beams_ * vocabulary_);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = log_probs[first_row * vocabulary_ + i] + running_[first_row + i / vocabulary_].score;
  }
  const std::vector<std::size_t> chosen =
      config_->do_sample ? samplers_[item].draw(sums, count) : best(sums, count);
  check_not_nan(sums, chosen.front());
  std::vector<Candidate> made;
  for (const std::size_t index : chosen) {
    const std::size_t row = first_row + index / vocabulary_;
    const auto token = static_cast<std::int32_t>(index % vocabulary_);
    Candidate candidate{running_[row]};
    candidate.beam.tokens.push_back(token);
    candidate.beam.beams.push_back(static_cast<std::int32_t>(row));
    candidate.beam.score = sums[index];
    candidate.ends = last || candidate.beam.tokens.size() >= max_length_ ||
                     std::find(ends.begin(), ends.end(), token) != ends.end();
    made.push_back(std::move(candidate));
  }
  return made;
}

// Continues with the best candidates that do not end.
void BeamSearch::run_on(std::size_t item, const std::vector<Candidate>& candidates) {
  std::vector<float> scores;
  for (const Candidate& candidate : candidates) {
    scores.push_back(candidate.beam.score + (candidate.ends ? kRuledOut : 0.0f));
  }
  std::size_t row = item * beams_;
  for (const std::size_t index : best(scores, beams_)) {
    running_[row] = candidates[index].beam;
    running_[row].score = scores[index];
    ++row;
  }
}

// Merges the candidates that end and are among the num_beams best with the finished sequences, and keeps the best.
void BeamSearch::collect(std::size_t item, const std::vector<Candidate>& candidates) {
  const bool full = config_->early_stopping == EarlyStopping::at_num_beams && all_finished(item);
  const float divisor = penalty(candidates.front().beam.beams.size());
  const auto first = finished_.begin() + static_cast<std::ptrdiff_t>(item * beams_);
  std::vector<Beam> merged(first, first + static_cast<std::ptrdiff_t>(beams_));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Beam beam = candidates[i].beam;
    beam.finished = candidates[i].ends && i < beams_;
    beam.score /= divisor;
    if (full) beam.score += kRuledOut;
    if (improvable_[item] == 0) beam.score += kRuledOut;
    if (!beam.finished) beam.score += kRuledOut;
    merged.push_back(std::move(beam));
  }
  std::vector<float> scores;
  for (const Beam& beam : merged) scores.push_back(beam.score);
  std::size_t row = item * beams_;
  for (const std::size_t index : best(scores, beams_)) finished_[row++] = merged[index];
}

// Whether the best running sequence can still beat the worst finished one.
bool BeamSearch::can_improve(std::size_t item) const {
  const std::size_t first = item * beams_;
  const std::size_t made = running_[first].beams.size();
  const bool longest =
      config_->early_stopping == EarlyStopping::never && config_->length_penalty > 0.0;
  const float possible =
      running_[first].score / penalty(longest ? max_length_ - prompt_length_ : made);
  float worst = finished_[first].score;
  for (std::size_t beam = 1; beam < beams_; ++beam) {
    worst = std::min(worst, finished_[first + beam].score);
  }
  return possible > (all_finished(item) ? worst : kRuledOut);
}

void BeamSearch::advance(std::span<const float> log_probs, bool last) {
  bool improvable = false, all_end = true, all_full = true;
  for (std::size_t item = 0; item < improvable_.size(); ++item) {
    const std::vector<Candidate> found = candidates(item, log_probs, last);
    for (const Candidate& candidate : found) all_end = all_end && candidate.ends;
    collect(item, found);
    run_on(item, found);
    improvable_[item] = improvable_[item] != 0 && can_improve(item) ? 1 : 0;
    improvable = improvable || improvable_[item] != 0;
    all_full = all_full && all_finished(item);
  }
  const bool enough = config_->early_stopping == EarlyStopping::at_num_beams && all_full;
  done_ = !improvable || enough || all_end;
}

std::vector<const BeamSearch::Beam*> BeamSearch::results() const {
  std::vector<const Beam*> found;
  for (std::size_t item = 0; item < improvable_.size(); ++item) {
    for (std::size_t i = 0; i < config_->num_return_sequences; ++i) {
      found.push_back(&finished_[item * beams_ + i]);
    }
  }
  return found;
}

std::int32_t BeamSearch::fill() const {
  // Upstream uses the padding token unless it is 0, which counts as unset there.
  const std::int32_t pad = config_->pad_token_id.value_or(0);
  if (config_->eos_token_ids.empty()) return -1;
  return pad != 0 ? pad : config_->eos_token_ids.front();
}

}  // namespace clearformer
