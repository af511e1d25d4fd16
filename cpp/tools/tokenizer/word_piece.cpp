// WordPiece: from left to right the longest piece that the vocabulary has; a word with a part it lacks is
// unknown as a whole.
// Source: Devlin et al. 2018, arXiv 1810.04805; google-research/bert, tokenization.py.
#include "tools/tokenizer/token_model.h"

namespace clearformer::tools {

namespace {

class WordPiece : public TokenModel {
 public:
  explicit WordPiece(const Step& step)
      : TokenModel(step), prefix_(step.text("continuing_subword_prefix", "##")) {
    if (step.json().find_set("max_input_chars_per_word") != nullptr) {
      limit_ = step.count("max_input_chars_per_word");
    }
    for (const auto& [token, id] : ids_) longest_ = std::max(longest_, token.size());
  }

  void tokenize(std::string_view word, Ids& to) const override {
    std::size_t characters = 0;
    for (std::size_t at = 0; at < word.size(); at += character_bytes(word[at])) ++characters;
    Ids pieces;
    if (characters > limit_ || !cut(word, pieces)) {
      if (unknown_ == kNone) {
        fail(ErrorCode::invalid_argument, "tokenizer: no tokens stand for \"", word,
             "\", and there is no unknown token");
      }
      pieces = {unknown_};
    }
    to.insert(to.end(), pieces.begin(), pieces.end());
  }

 private:
  bool cut(std::string_view word, Ids& pieces) const {
    for (std::size_t from = 0; from < word.size();) {
      std::string piece = from > 0 ? prefix_ : "";
      const std::size_t added = piece.size();
      piece += word.substr(from, longest_);
      auto found = ids_.find(piece);
      while (found == ids_.end() && piece.size() > added) {
        piece.pop_back();
        found = piece.size() > added ? ids_.find(piece) : ids_.end();
      }
      if (found == ids_.end()) return false;
      pieces.push_back(found->second);
      from += piece.size() - added;
    }
    return true;
  }

  std::string prefix_;
  std::size_t limit_ = 100;  // characters
  std::size_t longest_ = 0;  // bytes of a token
};

}  // namespace

std::unique_ptr<TokenModel> word_piece(const Step& step) {
  return std::make_unique<WordPiece>(step);
}

}  // namespace clearformer::tools
