#include "tools/tokenizer/post_processor.h"

namespace clearformer::tools {

namespace {

// "cls" and "sep" are pairs of a token and its id.
Ids id_in(const Step& step, std::string_view key) {
  const Json::Array& pair = step.list(key);
  const auto id = pair.size() == 2 ? pair[1].unsigned_integer() : std::nullopt;
  if (!id || *id > 0x7fffffff) step.refuse(key, "must be [token, id]");
  return {static_cast<std::int32_t>(*id)};
}

Ids ids_of(const Step& step, const std::string& token) {
  const Json* table = step.json().find("special_tokens");
  const Json* entry = table == nullptr ? nullptr : table->find(token);
  const Json* list = entry == nullptr ? nullptr : entry->find("ids");
  if (list == nullptr || !list->is_array()) {
    step.refuse("special_tokens", "lacks " + token + ", which the template names");
  }
  Ids ids;
  for (const Json& id : list->array()) {
    ids.push_back(static_cast<std::int32_t>(id.unsigned_integer().value_or(0)));
  }
  return ids;
}

}  // namespace

PostProcessor::PostProcessor(const Json* json) {
  if (json != nullptr && !json->is_null()) read(Step(*json, "post-processor"));
  if (slots_.empty()) slots_ = {{true, {}, 0}};
}

void PostProcessor::read(const Step& step) {
  const std::string& type = step.type();
  if (type == "Sequence") {
    for (const Json& each : step.list("processors")) read(Step(each, "post-processor"));
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    slots_ = {{false, id_in(step, "cls"), 0}, {true, {}, 0}, {false, id_in(step, "sep"), 0}};
  } else if (type == "TemplateProcessing") {
    read_template(step);
  } else if (type != "ByteLevel") {  // which only moves offsets
    step.refuse_type();
  }
}

void PostProcessor::read_template(const Step& step) {
  slots_.clear();
  for (const Json& piece : step.list("single")) {
    const Json* text = piece.find("Sequence");
    const Json* special = piece.find("SpecialToken");
    const Json* member = text != nullptr ? text : special;
    const Json* id = member == nullptr ? nullptr : member->find("id");
    const Json* type = member == nullptr ? nullptr : member->find("type_id");
    if (id == nullptr || !id->is_string()) step.refuse("single", "holds a piece without id");
    const auto number = type == nullptr ? std::nullopt : type->unsigned_integer();
    Slot slot{text != nullptr, {}, static_cast<std::int32_t>(number.value_or(0))};
    if (!slot.is_text) slot.special = ids_of(step, id->string());
    slots_.push_back(std::move(slot));
  }
}

std::size_t PostProcessor::added() const {
  std::size_t count = 0;
  for (const Slot& slot : slots_) count += slot.special.size();
  return count;
}

Encoding PostProcessor::process(const Ids& text) const {
  Encoding encoding;
  for (const Slot& slot : slots_) {
    const Ids& ids = slot.is_text ? text : slot.special;
    encoding.ids.insert(encoding.ids.end(), ids.begin(), ids.end());
    encoding.type_ids.resize(encoding.ids.size(), slot.type);
  }
  return encoding;
}

}  // namespace clearformer::tools
