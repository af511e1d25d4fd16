#include "tools/tokenizer/decoder.h"

#include "tools/tokenizer/step.h"
#include "tools/tokenizer/token_model.h"
#include "tools/tokenizer/unicode.h"

namespace clearformer::tools {

namespace {

using Texts = std::vector<std::string>;
using Change = std::function<void(Texts&)>;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string fused(const Texts& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

// A token with a character outside the alphabet stands for its own bytes.
void decode_byte_level(Texts& tokens) {
  std::string bytes;
  for (const std::string& token : tokens) {
    std::string own;
    const icu::UnicodeString text = from_utf8(token);
    bool spelled = true;
    for (std::int32_t at = 0; spelled && at < text.length(); at = text.moveIndex32(at, 1)) {
      const int byte = spelled_byte(text.char32At(at));
      spelled = byte >= 0;
      own += static_cast<char>(byte);
    }
    bytes += spelled ? own : token;
  }
  tokens = {to_utf8(from_utf8(bytes))};  // what is no UTF-8 becomes U+FFFD
}

int byte_of(std::string_view token) {
  const bool shaped = token.size() == 6 && token.starts_with("<0x") && token.back() == '>';
  if (!shaped || token.find_first_not_of("0123456789abcdefABCDEF", 3) != 5) return -1;
  return std::stoi(std::string(token.substr(3, 2)), nullptr, 16);
}

// A run of bytes that is not UTF-8 as a whole becomes one U+FFFD a byte.
void decode_bytes(Texts& tokens) {
  Texts texts;
  std::string bytes;
  const auto close = [&] {
    if (bytes.empty()) return;
    const bool valid = to_utf8(from_utf8(bytes)) == bytes;
    std::string text = valid ? bytes : "";
    for (std::size_t i = 0; !valid && i < bytes.size(); ++i) text += "\xef\xbf\xbd";
    texts.push_back(text);
    bytes.clear();
  };
  for (std::string& token : tokens) {
    const int byte = byte_of(token);
    if (byte >= 0) {
      bytes += static_cast<char>(byte);
      continue;
    }
    close();
    texts.push_back(std::move(token));
  }
  close();
  tokens = std::move(texts);
}

// The crate's own list of English spellings.
void clean_up_english(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kSpellings) replace_all(text, from, to);
}

Change word_piece_decoder(const Step& step) {
  return [prefix = step.text("prefix", "##"), cleanup = step.flag("cleanup", true)](Texts& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0 && token.starts_with(prefix)) {
        token.erase(0, prefix.size());
      } else if (i > 0) {
        token.insert(token.begin(), ' ');
      }
      if (cleanup) clean_up_english(token);
    }
  };
}

Change metaspace_decoder(const Step& step) {
  const std::string mark = step.text("replacement", "▁");
  const bool prepended =
      step.flag("add_prefix_space", true) && step.text("prepend_scheme", "always") != "never";
  return [mark, prepended](Texts& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], mark, i == 0 && prepended ? "" : " ");
    }
  };
}

Change suffix_decoder(const Step& step) {
  return [suffix = step.text("suffix", "</w>")](Texts& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
    }
  };
}

Change ctc_decoder(const Step& step) {
  return [pad = step.text("pad_token", "<pad>"), delimiter = step.text("word_delimiter_token", "|"),
          cleanup = step.flag("cleanup", true)](Texts& tokens) {
    Texts kept;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i] == tokens[i - 1]) continue;
      std::string token = tokens[i];
      replace_all(token, pad, "");
      if (cleanup) {
        clean_up_english(token);
        replace_all(token, delimiter, " ");
      }
      if (!token.empty()) kept.push_back(token);
    }
    tokens = std::move(kept);
  };
}

Change replace_decoder(const Step& step) {
  const Pattern pattern = Pattern::of(step.json().find("pattern"), "decoder Replace");
  const icu::UnicodeString content = from_utf8(step.text("content"));
  return [pattern, content](Texts& tokens) {
    for (std::string& token : tokens) {
      const icu::UnicodeString text = from_utf8(token);
      icu::UnicodeString changed;
      std::int32_t last = 0;
      for (const Span& match : pattern.matches(text)) {
        changed.append(text, last, match.from - last).append(content);
        last = match.to;
      }
      token = to_utf8(changed.append(text, last, text.length() - last));
    }
  };
}

Change strip_decoder(const Step& step) {
  const std::string content = step.text("content", " ");
  if (content.empty()) step.refuse("content", "must be one character");
  return [content, start = step.count("start"), stop = step.count("stop")](Texts& tokens) {
    for (std::string& token : tokens) {
      for (std::size_t i = 0; i < start && token.starts_with(content); ++i) {
        token.erase(0, content.size());
      }
      for (std::size_t i = 0; i < stop && token.ends_with(content); ++i) {
        token.erase(token.size() - content.size());
      }
    }
  };
}

Change made(const Step& step);

Change sequence(const Step& step) {
  std::vector<Change> steps;
  for (const Json& each : step.list("decoders")) steps.push_back(made(Step(each, "decoder")));
  return [steps](Texts& tokens) {
    for (const Change& change : steps) change(tokens);
  };
}

Change made(const Step& step) {
  const std::string& type = step.type();
  if (type == "Sequence") return sequence(step);
  if (type == "ByteLevel") return decode_byte_level;
  if (type == "WordPiece") return word_piece_decoder(step);
  if (type == "Metaspace") return metaspace_decoder(step);
  if (type == "BPEDecoder") return suffix_decoder(step);
  if (type == "CTC") return ctc_decoder(step);
  if (type == "ByteFallback") return decode_bytes;
  if (type == "Fuse") return [](Texts& tokens) { tokens = {fused(tokens)}; };
  if (type == "Replace") return replace_decoder(step);
  if (type == "Strip") return strip_decoder(step);
  step.refuse_type();
}

}  // namespace

Decode decoder_of(const Json* json) {
  if (json == nullptr || json->is_null()) {
    return [](const Texts& tokens) {
      std::string text;
      for (std::size_t i = 0; i < tokens.size(); ++i) text += (i > 0 ? " " : "") + tokens[i];
      return text;
    };
  }
  return [change = made(Step(*json, "decoder"))](Texts tokens) {
    change(tokens);
    return fused(tokens);
  };
}

std::string cleaned_up(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kSpellings) replace_all(text, from, to);
  return text;
}

}  // namespace clearformer::tools
