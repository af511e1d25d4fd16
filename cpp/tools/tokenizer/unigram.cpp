// Unigram: of all ways to cut a word the one with the highest sum of scores (Viterbi); unknown characters
// side by side are one unknown part.
// Source: Kudo 2018, arXiv 1804.10959; SentencePiece.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "tools/tokenizer/token_model.h"

namespace clearformer::tools {

namespace {

// SentencePiece's: an unknown character scores so much less than the rarest token.
constexpr double kUnknownPenalty = 10.0;

// The crate reads a decimal's digits as one integer and divides, which can miss the nearest double by
// one. Where two ways to cut a word have the same tokens in another order, that decides.
double as_crate_reads(double score) {
  if (score == 0.0 || std::abs(score) < 1e-6 || std::abs(score) >= 1e21) return score;
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, score, std::chars_format::fixed).ptr;
  std::string digits(text, end);
  const std::size_t point = digits.find('.');
  if (point == std::string::npos) return score;
  const std::size_t places = digits.size() - point - 1;
  digits.erase(point, 1);
  return std::strtod(digits.c_str(), nullptr) / std::strtod(concat("1e", places).c_str(), nullptr);
}

class Unigram : public TokenModel {
 public:
  explicit Unigram(const Step& step) : TokenModel(step) {
    double least = std::numeric_limits<double>::infinity();
    for (const Json& entry : step.list("vocab")) {
      scores_.push_back(as_crate_reads(entry.array()[1].number()));
      least = std::min(least, scores_.back());
      longest_ = std::max(longest_, entry.array()[0].string().size());
    }
    unknown_score_ = least - kUnknownPenalty;
  }

  void tokenize(std::string_view word, Ids& to) const override {
    for (const auto& [from, end] : best_path(word)) {
      const std::string_view part = word.substr(from, end - from);
      if (ids_.find(part) == ids_.end() && append_bytes(part, to)) continue;
      to.push_back(id_or_unknown(part));
    }
  }

 private:
  struct End {  // the best way to reach a place
    std::size_t from = std::string::npos;
    double score = 0.0;
    bool unknown = false;
  };
  using Path = std::vector<std::pair<std::size_t, std::size_t>>;

  static void reach(End& end, std::size_t from, double score, bool unknown) {
    if (end.from == std::string::npos || score > end.score) end = {from, score, unknown};
  }

  Path best_path(std::string_view word) const {
    std::vector<End> best(word.size() + 1);
    for (std::size_t from = 0; from < word.size();) {
      const std::size_t next = from + character_bytes(word[from]);
      const double score = best[from].score;
      bool single = false;
      for (std::size_t to = next; to <= std::min(word.size(), from + longest_);) {
        const auto found = ids_.find(word.substr(from, to - from));
        if (found != ids_.end()) {
          const double sum = scores_[static_cast<std::size_t>(found->second)] + score;
          reach(best[to], from, sum, found->second == unknown_);
          single = single || to == next;
        }
        to += to < word.size() ? character_bytes(word[to]) : 1;
      }
      if (!single) reach(best[next], from, unknown_score_ + score, true);
      from = next;
    }
    return path_to_end(best);
  }

  static Path path_to_end(const std::vector<End>& best) {
    Path path;
    bool after = false;
    for (std::size_t to = best.size() - 1; to > 0; to = best[to].from) {
      const End& end = best[to];
      if (end.unknown && after) {
        path.back().first = end.from;
      } else {
        path.emplace_back(end.from, to);
      }
      after = end.unknown;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  std::vector<double> scores_;
  double unknown_score_ = 0.0;
  std::size_t longest_ = 0;  // bytes of a token
};

}  // namespace

std::unique_ptr<TokenModel> unigram(const Step& step) {
  const Json* vocab = step.json().find("vocab");
  if (vocab == nullptr || !vocab->is_array())
    step.refuse("vocab", "must be a list of [token, score]");
  return std::make_unique<Unigram>(step);
}

}  // namespace clearformer::tools
