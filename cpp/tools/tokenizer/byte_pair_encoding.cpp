// Byte-pair encoding: a word's characters, of which the pair that was merged first in training is merged
// again and again.
// Source: Sennrich et al. 2016, arXiv 1508.07909, section 3.2.
#include <queue>
#include <tuple>

#include "tools/tokenizer/token_model.h"

namespace clearformer::tools {

namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;
struct PairHash {
  std::size_t operator()(const Pair& pair) const {
    return std::hash<std::uint64_t>()(static_cast<std::uint64_t>(pair.first) << 32 ^
                                      static_cast<std::uint32_t>(pair.second));
  }
};
struct Merge {
  std::size_t rank;
  std::int32_t id;  // of what the pair becomes
};

// A word's symbols as a linked list, so that a merge moves nothing.
struct Symbol {
  std::int32_t id;
  int previous, next;  // -1: none
  bool merged_away = false;
};

// The two halves of a merge: "a b" in older files, ["a", "b"] in newer ones.
std::pair<std::string, std::string> halves(const Step& step, const Json& merge) {
  if (merge.is_string()) {
    const std::string& text = merge.string();
    const std::size_t space = text.find(' ');
    if (space == std::string::npos) step.refuse("merges", "holds an entry that is no pair");
    return {text.substr(0, space), text.substr(space + 1)};
  }
  const bool pair = merge.is_array() && merge.array().size() == 2 && merge.array()[0].is_string() &&
                    merge.array()[1].is_string();
  if (!pair) step.refuse("merges", "holds an entry that is no pair");
  return {merge.array()[0].string(), merge.array()[1].string()};
}

class BytePairEncoding : public TokenModel {
 public:
  explicit BytePairEncoding(const Step& step)
      : TokenModel(step),
        prefix_(step.text("continuing_subword_prefix", "")),
        suffix_(step.text("end_of_word_suffix", "")),
        fuse_unknown_(step.flag("fuse_unk", false)),
        ignore_merges_(step.flag("ignore_merges", false)) {
    const Json* dropout = step.json().find_set("dropout");
    if (dropout != nullptr && !(dropout->is_number() && dropout->number() == 0.0)) {
      fail(ErrorCode::unsupported, "tokenizer.json: model BPE: dropout is not supported");
    }
    std::size_t rank = 0;
    for (const Json& merge : step.list("merges")) add(step, merge, rank++);
  }

  void tokenize(std::string_view word, Ids& to) const override {
    if (ignore_merges_) {
      if (const auto whole = ids_.find(word); whole != ids_.end()) {
        to.push_back(whole->second);
        return;
      }
    }
    std::vector<Symbol> symbols = symbols_of(word);
    merge(symbols);
    for (const Symbol& symbol : symbols) {
      if (!symbol.merged_away) to.push_back(symbol.id);
    }
  }

 private:
  void add(const Step& step, const Json& merge, std::size_t rank) {
    const auto [left, right] = halves(step, merge);
    const bool continues = !prefix_.empty() && right.starts_with(prefix_);
    const auto first = ids_.find(left), second = ids_.find(right);
    const auto whole = ids_.find(left + (continues ? right.substr(prefix_.size()) : right));
    if (first == ids_.end() || second == ids_.end() || whole == ids_.end()) {
      step.refuse("merges", "holds " + left + " " + right + ", which the vocabulary lacks");
    }
    merges_.insert_or_assign({first->second, second->second}, Merge{rank, whole->second});
  }

  // One symbol a character; bytes or the unknown token where the vocabulary lacks it. As in the crate, what no
  // token stands for is left out.
  std::vector<Symbol> symbols_of(std::string_view word) const {
    Ids ids;
    bool after_unknown = false;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t size = character_bytes(word[at]);
      std::string spelling(word.substr(at, size));
      if (at > 0) spelling.insert(0, prefix_);
      at += size;
      if (at >= word.size()) spelling += suffix_;
      const auto found = ids_.find(spelling);
      const bool known = found != ids_.end();
      if (known) ids.push_back(found->second);
      const bool unknown = !known && !append_bytes(spelling, ids);
      if (unknown && unknown_ != kNone && !(after_unknown && fuse_unknown_)) {
        ids.push_back(unknown_);
      }
      after_unknown = unknown;
    }
    std::vector<Symbol> symbols;
    const int count = static_cast<int>(ids.size());
    for (int i = 0; i < count; ++i) {
      symbols.push_back({ids[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
    }
    return symbols;
  }

  // (rank, place of the left half, what it becomes): the lowest rank first, then the leftmost.
  using Candidate = std::tuple<std::size_t, int, std::int32_t>;
  using Candidates = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>;

  void consider(const std::vector<Symbol>& symbols, int left, Candidates& candidates) const {
    if (left < 0) return;
    const Symbol& first = symbols[static_cast<std::size_t>(left)];
    if (first.next < 0) return;
    const auto found = merges_.find({first.id, symbols[static_cast<std::size_t>(first.next)].id});
    if (found != merges_.end()) candidates.push({found->second.rank, left, found->second.id});
  }

  void merge(std::vector<Symbol>& symbols) const {
    Candidates candidates;
    for (int i = 0; i < static_cast<int>(symbols.size()); ++i) consider(symbols, i, candidates);
    while (!candidates.empty()) {
      const auto [rank, place, id] = candidates.top();
      candidates.pop();
      Symbol& left = symbols[static_cast<std::size_t>(place)];
      if (left.merged_away || left.next < 0) continue;
      Symbol& right = symbols[static_cast<std::size_t>(left.next)];
      const auto found = merges_.find({left.id, right.id});
      if (found == merges_.end() || found->second.id != id) continue;  // an older candidate
      left.id = id;
      left.next = right.next;
      right.merged_away = true;
      if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = place;
      consider(symbols, left.previous, candidates);
      consider(symbols, place, candidates);
    }
  }

  std::string prefix_, suffix_;
  bool fuse_unknown_, ignore_merges_;
  std::unordered_map<Pair, Merge, PairHash> merges_;
};

}  // namespace

std::unique_ptr<TokenModel> byte_pair_encoding(const Step& step) {
  return std::make_unique<BytePairEncoding>(step);
}

}  // namespace clearformer::tools
