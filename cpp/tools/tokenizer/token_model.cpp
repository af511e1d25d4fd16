#include "tools/tokenizer/token_model.h"

namespace clearformer::tools {

namespace {

std::int32_t id_of(const Step& step, const Json& value) {
  const auto id = value.unsigned_integer();
  if (!id || *id > 0x7fffffff) step.refuse("vocab", "holds an id that is no whole number >= 0");
  return static_cast<std::int32_t>(*id);
}

Vocabulary read_vocabulary(const Step& step) {
  const Json* vocab = step.json().find("vocab");
  Vocabulary ids;
  if (vocab != nullptr && vocab->is_object()) {
    for (const auto& [token, id] : vocab->object()) ids.emplace(token, id_of(step, id));
    return ids;
  }
  std::int32_t id = 0;
  for (const Json& entry : step.list("vocab")) {
    const bool scored = entry.is_array() && entry.array().size() == 2 &&
                        entry.array()[0].is_string() && entry.array()[1].is_number();
    if (!scored) step.refuse("vocab", "must hold [token, score]");
    ids.insert_or_assign(entry.array()[0].string(), id++);
  }
  return ids;
}

class WordLevel : public TokenModel {
 public:
  explicit WordLevel(const Step& step) : TokenModel(step) {}
  void tokenize(std::string_view word, Ids& to) const override {
    to.push_back(id_or_unknown(word));
  }
};

// Older files lack the type.
std::string type_of(const Json& json) {
  const Json* type = json.find_set("type");
  if (type != nullptr && type->is_string()) return type->string();
  const Json* vocab = json.find("vocab");
  if (vocab != nullptr && vocab->is_array()) return "Unigram";
  if (json.find("merges") != nullptr) return "BPE";
  return json.find("continuing_subword_prefix") == nullptr ? "WordLevel" : "WordPiece";
}

}  // namespace

TokenModel::TokenModel(const Step& step)
    : ids_(read_vocabulary(step)), byte_fallback_(step.flag("byte_fallback", false)) {
  if (step.json().find_set("unk_id") != nullptr) {
    unknown_ = static_cast<std::int32_t>(step.count("unk_id"));
  } else if (const auto found = ids_.find(step.text("unk_token", "")); found != ids_.end()) {
    unknown_ = found->second;
  }
}

std::int32_t TokenModel::id_or_unknown(std::string_view token) const {
  const auto found = ids_.find(token);
  const std::int32_t id = found == ids_.end() ? unknown_ : found->second;
  if (id == kNone) {
    fail(ErrorCode::invalid_argument, "tokenizer: no token stands for \"", token,
         "\", and there is no unknown token");
  }
  return id;
}

bool TokenModel::append_bytes(std::string_view text, Ids& to) const {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (!byte_fallback_) return false;
  Ids bytes;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const auto found =
        ids_.find(std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">");
    if (found == ids_.end()) return false;
    bytes.push_back(found->second);
  }
  to.insert(to.end(), bytes.begin(), bytes.end());
  return true;
}

std::unique_ptr<TokenModel> token_model_of(const Json& json) {
  const std::string type = type_of(json);
  Json typed = json;
  if (json.find_set("type") == nullptr && json.is_object()) {
    Json::Object members = json.object();
    std::erase_if(members, [](const auto& member) { return member.first == "type"; });
    members.emplace_back("type", Json(Json::Value(type)));
    typed = Json(Json::Value(std::move(members)));
  }
  const Step step(typed, "model");
  if (type == "BPE") return byte_pair_encoding(step);
  if (type == "WordPiece") return word_piece(step);
  if (type == "Unigram") return unigram(step);
  if (type == "WordLevel") return std::make_unique<WordLevel>(step);
  step.refuse_type();
}

}  // namespace clearformer::tools
