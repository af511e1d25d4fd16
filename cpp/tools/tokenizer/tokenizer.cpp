#include "tools/tokenizer/tokenizer.h"

#include "tools/files.h"

namespace clearformer::tools {

namespace {

// Byte-pair encodings lose nothing that cleaning up could mend.
bool reads_clean_up(const Json& config, const Json& model) {
  const Json* flag = config.find_set("clean_up_tokenization_spaces");
  return flag != nullptr && flag->is_bool() && flag->boolean() && model.find("merges") == nullptr;
}

}  // namespace

Tokenizer::Tokenizer(const Json& json, const Json& config) {
  const Json* model = json.find_set("model");
  if (model == nullptr || !model->is_object()) {
    fail(ErrorCode::malformed_config, "tokenizer.json: \"model\" is missing");
  }
  const Normalize normalize = normalizer_of(json.find("normalizer"));
  model_ = token_model_of(*model);
  added_ = read_added_tokens(json.find("added_tokens"));
  finder_.emplace(added_, normalize);
  pre_tokenize_ = pre_tokenizer_of(json.find("pre_tokenizer"));
  post_process_.emplace(json.find("post_processor"));
  decode_ = decoder_of(json.find("decoder"));
  clean_up_ = reads_clean_up(config, *model);
  for (const auto& [token, id] : model_->vocabulary()) spellings_.emplace(id, token);
  for (const AddedToken& token : added_) {
    spellings_.insert_or_assign(token.id, token.content);
    special_[token.id] = token.special;
  }
}

Ids Tokenizer::ids_of(std::string_view text) const {
  Ids ids;
  for (const AddedTokens::Found& found : finder_->split(from_utf8(text))) {
    if (found.id) {
      ids.push_back(*found.id);
      continue;
    }
    for (const Piece& word : pre_tokenize_(found.piece)) {
      if (!word.text.isEmpty()) model_->tokenize(to_utf8(word.text), ids);
    }
  }
  return ids;
}

Encoding Tokenizer::encode(std::string_view text, std::optional<std::size_t> max_length,
                           bool* truncated) const {
  Ids ids = ids_of(text);
  const std::size_t whole = ids.size();
  if (max_length) {
    const std::size_t room = *max_length - std::min(*max_length, post_process_->added());
    ids.resize(std::min(whole, room));
  }
  if (truncated != nullptr) *truncated = ids.size() < whole;
  return post_process_->process(ids);
}

std::string Tokenizer::decode(const Ids& ids, SpecialTokens special) const {
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) {
    const auto found = spellings_.find(id);
    if (found == spellings_.end()) continue;
    const auto added = special_.find(id);
    const bool is_special = added != special_.end() && added->second;
    if (is_special && special == SpecialTokens::skip) continue;
    tokens.push_back(found->second);
  }
  const std::string text = decode_(std::move(tokens));
  return clean_up_ ? cleaned_up(text) : text;
}

std::string Tokenizer::token(std::int32_t id) const {
  const auto found = spellings_.find(id);
  return found == spellings_.end() ? "" : found->second;
}

std::int64_t Tokenizer::largest_id() const {
  std::int64_t largest = -1;
  for (const auto& [id, spelling] : spellings_) largest = std::max<std::int64_t>(largest, id);
  return largest;
}

Tokenizer read_tokenizer(const std::string& folder) {
  const auto text = read_text(folder + "/tokenizer.json");
  if (!text) {
    fail(ErrorCode::invalid_argument, "cannot open ", folder,
         "/tokenizer.json, which text needs; token ids can be given by --input-ids");
  }
  const std::string config = read_text(folder + "/tokenizer_config.json").value_or("{}");
  return Tokenizer(Json::parse(*text, "tokenizer.json", ErrorCode::malformed_config),
                   Json::parse(config, "tokenizer_config.json", ErrorCode::malformed_config));
}

}  // namespace clearformer::tools
