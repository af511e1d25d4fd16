#include "tools/tokenizer/pre_tokenizers.h"

#include <algorithm>

#include "tools/tokenizer/step.h"

namespace clearformer::tools {

namespace {

// What becomes of the delimiters at which a text is split.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
// Whether the matches are the delimiters, or what lies between them.
enum class Delimiters { matches, the_rest };

Behavior behavior_of(const Step& step, std::string_view fallback) {
  constexpr std::pair<std::string_view, Behavior> kBehaviors[] = {
      {"emoved", Behavior::removed},
      {"solated", Behavior::isolated},
      {"ergedWithPrevious", Behavior::merged_with_previous},
      {"ergedWithNext", Behavior::merged_with_next},
      {"ontiguous", Behavior::contiguous}};
  const std::string name = step.text("behavior", fallback);
  for (const auto& [rest, behavior] : kBehaviors) {  // the first letter is small in some files
    if (name.size() == rest.size() + 1 && name.ends_with(rest)) return behavior;
  }
  step.refuse("behavior", "is not known");
}

struct Part {
  Span span;
  bool delimiter;
};

std::vector<Part> parts_of(const Piece& piece, const Pattern& pattern, Delimiters delimiters) {
  const bool inverted = delimiters == Delimiters::the_rest;
  std::vector<Part> parts;
  std::int32_t last = 0;
  for (const Span& match : pattern.matches(piece.text)) {
    if (last < match.from) parts.push_back({{last, match.from}, inverted});
    if (match.from < match.to) parts.push_back({match, !inverted});
    last = match.to;
  }
  if (last < piece.text.length()) parts.push_back({{last, piece.text.length()}, inverted});
  return parts;
}

std::vector<Part> joined(std::vector<Part> parts, Behavior behavior) {
  if (behavior == Behavior::isolated) return parts;
  if (behavior == Behavior::removed) {
    std::erase_if(parts, [](const Part& part) { return part.delimiter; });
    return parts;
  }
  const bool backwards = behavior == Behavior::merged_with_next;
  if (backwards) std::reverse(parts.begin(), parts.end());
  std::vector<Part> whole;
  bool before = false;
  for (const Part& part : parts) {
    const bool joins =
        behavior == Behavior::contiguous ? part.delimiter == before : part.delimiter && !before;
    before = part.delimiter;
    if (whole.empty() || !joins) {
      whole.push_back(part);
    } else if (backwards) {
      whole.back().span.from = part.span.from;
    } else {
      whole.back().span.to = part.span.to;
    }
  }
  if (backwards) std::reverse(whole.begin(), whole.end());
  return whole;
}

Piece slice(const Piece& piece, Span span) {
  return {icu::UnicodeString(piece.text, span.from, span.to - span.from),
          piece.at_start && span.from == 0};
}

PreTokenize splitter(Pattern pattern, Behavior behavior,
                     Delimiters delimiters = Delimiters::matches) {
  return [pattern = std::move(pattern), behavior, delimiters](const Piece& piece) {
    std::vector<Piece> pieces;
    for (const Part& part : joined(parts_of(piece, pattern, delimiters), behavior)) {
      pieces.push_back(slice(piece, part.span));
    }
    return pieces;
  };
}

PreTokenize chain(std::vector<PreTokenize> steps) {
  return [steps = std::move(steps)](const Piece& piece) {
    std::vector<Piece> pieces{piece};
    for (const PreTokenize& step : steps) {
      std::vector<Piece> next;
      for (const Piece& each : pieces) {
        for (Piece& part : step(each)) next.push_back(std::move(part));
      }
      pieces = std::move(next);
    }
    return pieces;
  };
}

// U+166D was punctuation in Unicode 8, whose table the crate has.
Pattern punctuation() { return Pattern::regex(R"([\p{P}\$+<=>\^`|~\u166d])"); }
Pattern white_space() { return Pattern::regex(R"(\p{White_Space})"); }

constexpr std::string_view kWordsOrSigns =
    R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|)"
    R"([^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{White_Space}]+)";
constexpr std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

PreTokenize byte_level(const Step& step) {
  const bool prefix = step.flag("add_prefix_space", true);
  const auto split = step.flag("use_regex", true)
                         ? splitter(Pattern::regex(kGpt2Words), Behavior::isolated)
                         : chain({});
  return [prefix, split](const Piece& piece) {
    Piece prefixed = piece;
    if (prefix && !piece.text.startsWith(u" ", 1)) prefixed.text.insert(0, u' ');
    std::vector<Piece> words = split(prefixed);
    for (Piece& word : words) word.text = spell_bytes(word.text);
    return words;
  };
}

PreTokenize metaspace(const Step& step) {
  const std::string replacement = step.text("replacement", "▁");
  const icu::UnicodeString mark = from_utf8(replacement);
  const std::string scheme = step.flag("add_prefix_space", true)
                                 ? step.text("prepend_scheme", "always")
                                 : std::string("never");
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    step.refuse("prepend_scheme", "must be always, first or never");
  }
  const auto split = step.flag("split", true)
                         ? splitter(Pattern::literal(replacement), Behavior::merged_with_next)
                         : chain({});
  return [mark, scheme, split](const Piece& piece) {
    Piece marked = piece;
    marked.text.findAndReplace(u" ", mark);
    const bool prepends = scheme == "always" || (scheme == "first" && piece.at_start);
    if (prepends && !marked.text.startsWith(mark)) marked.text.insert(0, mark);
    return split(marked);
  };
}

PreTokenize fixed_length(const Step& step) {
  const std::size_t length = step.count("length");
  if (length == 0) step.refuse("length", "must be at least 1");
  return [length = static_cast<std::int32_t>(length)](const Piece& piece) {
    std::vector<Piece> pieces;
    for (std::int32_t from = 0; from < piece.text.length();) {
      const std::int32_t to = piece.text.moveIndex32(from, length);
      pieces.push_back(slice(piece, {from, to}));
      from = to;
    }
    return pieces;
  };
}

PreTokenize split(const Step& step) {
  const bool invert = step.flag("invert", false);
  return splitter(Pattern::of(step.json().find("pattern"), "pre-tokenizer Split"),
                  behavior_of(step, ""), invert ? Delimiters::the_rest : Delimiters::matches);
}

PreTokenize made(const Step& step);

PreTokenize sequence(const Step& step) {
  std::vector<PreTokenize> steps;
  for (const Json& each : step.list("pretokenizers")) {
    steps.push_back(made(Step(each, "pre-tokenizer")));
  }
  return chain(std::move(steps));
}

PreTokenize made(const Step& step) {
  const std::string& type = step.type();
  if (type == "Sequence") return sequence(step);
  if (type == "BertPreTokenizer") {
    return chain(
        {splitter(white_space(), Behavior::removed), splitter(punctuation(), Behavior::isolated)});
  }
  if (type == "Whitespace") {
    return splitter(Pattern::regex(kWordsOrSigns), Behavior::removed, Delimiters::the_rest);
  }
  if (type == "WhitespaceSplit") return splitter(white_space(), Behavior::removed);
  if (type == "Punctuation") return splitter(punctuation(), behavior_of(step, "Isolated"));
  if (type == "Digits") {
    return splitter(Pattern::regex(R"(\p{N})"), step.flag("individual_digits", false)
                                                    ? Behavior::isolated
                                                    : Behavior::contiguous);
  }
  if (type == "Split") return split(step);
  if (type == "CharDelimiterSplit") {
    return splitter(Pattern::literal(step.text("delimiter")), Behavior::removed);
  }
  if (type == "FixedLength") return fixed_length(step);
  if (type == "ByteLevel") return byte_level(step);
  if (type == "Metaspace") return metaspace(step);
  step.refuse_type();
}

}  // namespace

PreTokenize pre_tokenizer_of(const Json* json) {
  if (json == nullptr || json->is_null()) return chain({});
  return made(Step(*json, "pre-tokenizer"));
}

}  // namespace clearformer::tools
