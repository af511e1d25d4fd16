#include "tools/tokenizer/normalizers.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include "tools/tokenizer/step.h"

namespace clearformer::tools {

namespace {

// Each character of its own: `change` appends what it becomes. What is dropped at the front moves the
// beginning.
Normalize by_character(std::function<void(UChar32, icu::UnicodeString&)> change) {
  return [change = std::move(change)](Piece& piece) {
    if (piece.text.isEmpty()) return;
    icu::UnicodeString first;
    change(piece.text.char32At(0), first);
    if (first.isEmpty()) piece.at_start = false;
    piece.text = each_character(piece.text, change);
  };
}

Normalize without(std::function<bool(UChar32)> dropped) {
  return by_character([dropped = std::move(dropped)](UChar32 character, icu::UnicodeString& to) {
    if (!dropped(character)) to.append(character);
  });
}

Normalize chain(std::vector<Normalize> steps) {
  return [steps = std::move(steps)](Piece& piece) {
    for (const Normalize& step : steps) step(piece);
  };
}

Normalize unicode_form(std::string_view form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = form == "NFC"    ? icu::Normalizer2::getNFCInstance(status)
                                       : form == "NFD"  ? icu::Normalizer2::getNFDInstance(status)
                                       : form == "NFKC" ? icu::Normalizer2::getNFKCInstance(status)
                                                        : icu::Normalizer2::getNFKDInstance(status);
  if (U_FAILURE(status)) {
    fail(ErrorCode::unsupported, "tokenizer.json: ICU has no data for ", form, ": ",
         u_errorName(status));
  }
  return [normalizer, name = std::string(form)](Piece& piece) {
    UErrorCode failed = U_ZERO_ERROR;
    piece.text = normalizer->normalize(piece.text, failed);
    if (U_FAILURE(failed))
      fail(ErrorCode::invalid_argument, "tokenizer: ", name, " of the text failed");
  };
}

// One character at a time: the last sigma of a word is no exception here.
Normalize lowercase() {
  return by_character([](UChar32 character, icu::UnicodeString& to) {
    to.append(icu::UnicodeString(character).toLower(icu::Locale::getRoot()));
  });
}

bool has_category(UChar32 character, std::uint32_t mask) {
  return (U_GET_GC_MASK(character) & mask) != 0;
}

bool is_chinese(UChar32 character) {
  constexpr std::pair<UChar32, UChar32> kBlocks[] = {
      {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
      {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  for (const auto& [first, last] : kBlocks) {
    if (first <= character && character <= last) return true;
  }
  return false;
}

void clean(UChar32 character, icu::UnicodeString& to) {
  const bool kept = character == '\t' || character == '\n' || character == '\r';
  const bool control = has_category(character, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK);
  if (!kept && (control || character == 0xfffd)) return;
  to.append(u_isUWhiteSpace(character) ? UChar32(' ') : character);
}

void space_out_chinese(UChar32 character, icu::UnicodeString& to) {
  const bool chinese = is_chinese(character);
  if (chinese) to.append(u' ');
  to.append(character);
  if (chinese) to.append(u' ');
}

Normalize bert(const Step& step) {
  std::vector<Normalize> steps;
  const bool lower = step.flag("lowercase", true);
  if (step.flag("clean_text", true)) steps.push_back(by_character(clean));
  if (step.flag("handle_chinese_chars", true)) steps.push_back(by_character(space_out_chinese));
  if (step.flag("strip_accents", lower)) {
    steps.push_back(unicode_form("NFD"));
    // The crate's table is Unicode 8's, in which these two were letters.
    steps.push_back(without([](UChar32 character) {
      return has_category(character, U_GC_MN_MASK) && character != 0x1885 && character != 0x1886;
    }));
  }
  if (lower) steps.push_back(lowercase());
  return chain(std::move(steps));
}

Normalize strip(const Step& step) {
  const bool left = step.flag("strip_left", true), right = step.flag("strip_right", true);
  return [left, right](Piece& piece) {
    icu::UnicodeString& text = piece.text;
    std::int32_t from = 0, to = text.length();
    while (right && to > 0 && u_isUWhiteSpace(text.char32At(text.moveIndex32(to, -1)))) {
      to = text.moveIndex32(to, -1);
    }
    while (left && from < to && u_isUWhiteSpace(text.char32At(from))) {
      from = text.moveIndex32(from, 1);
    }
    if (from > 0) piece.at_start = false;
    text = icu::UnicodeString(text, from, to - from);
  };
}

Normalize replace(const Step& step) {
  const Pattern pattern = Pattern::of(step.json().find("pattern"), "normalizer Replace");
  const icu::UnicodeString content = from_utf8(step.text("content"));
  return [pattern, content](Piece& piece) {
    icu::UnicodeString changed;
    std::int32_t last = 0;
    for (const Span& match : pattern.matches(piece.text)) {
      if (match.from == 0 && match.to > 0 && content.isEmpty()) piece.at_start = false;
      changed.append(piece.text, last, match.from - last).append(content);
      last = match.to;
    }
    piece.text = changed.append(piece.text, last, piece.text.length() - last);
  };
}

Normalize prepend(const Step& step) {
  const icu::UnicodeString prefix = from_utf8(step.text("prepend"));
  return [prefix](Piece& piece) {
    if (!piece.text.isEmpty()) piece.text.insert(0, prefix);
  };
}

// SentencePiece's rules for neural translation.
void nmt(UChar32 character, icu::UnicodeString& to) {
  const bool control = (character >= 0x01 && character <= 0x08) || character == 0x0b ||
                       (character >= 0x0e && character <= 0x1f) || character == 0x7f ||
                       character == 0x8f || character == 0x9f;
  if (control) return;
  const bool space =
      character == 0x09 || character == 0x0a || character == 0x0c || character == 0x0d ||
      character == 0x1680 || (character >= 0x200b && character <= 0x200f) || character == 0x2028 ||
      character == 0x2029 || character == 0x2581 || character == 0xfeff || character == 0xfffd;
  to.append(space ? UChar32(' ') : character);
}

Normalize made(const Step& step);

Normalize sequence(const Step& step) {
  std::vector<Normalize> steps;
  for (const Json& each : step.list("normalizers")) steps.push_back(made(Step(each, "normalizer")));
  return chain(std::move(steps));
}

Normalize made(const Step& step) {
  const std::string& type = step.type();
  if (type == "Sequence") return sequence(step);
  if (type == "BertNormalizer") return bert(step);
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") return unicode_form(type);
  if (type == "Lowercase") return lowercase();
  if (type == "StripAccents") {
    return without([](UChar32 character) { return has_category(character, U_GC_M_MASK); });
  }
  if (type == "Strip") return strip(step);
  if (type == "Replace") return replace(step);
  if (type == "Prepend") return prepend(step);
  if (type == "ByteLevel") return [](Piece& piece) { piece.text = spell_bytes(piece.text); };
  if (type == "Precompiled") return precompiled(step.text("precompiled_charsmap"));
  if (type == "Nmt") return by_character(nmt);
  step.refuse_type();
}

}  // namespace

Normalize normalizer_of(const Json* json) {
  if (json == nullptr || json->is_null()) return [](Piece&) {};
  return made(Step(*json, "normalizer"));
}

}  // namespace clearformer::tools
