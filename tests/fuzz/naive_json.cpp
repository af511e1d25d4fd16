#include "naive_json.h"

namespace clearformer::fuzz {

namespace {

constexpr int kDepth = 8;  // a valid header has 3

// Whether these are well-formed UTF-8.
bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    if (length == 0 || text.size() - at < length) return false;
    std::uint32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
      const auto tail = static_cast<unsigned char>(text[at + i]);
      if ((tail & 0xc0) != 0x80) return false;
      code = code << 6 | (tail & 0x3f);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    at += length;
  }
  return true;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<NaiveJson> document() {
    std::optional<NaiveJson> root = value(0);
    skip_space();
    if (at_ != text_.size()) return std::nullopt;
    return root;
  }

 private:
  using Kind = NaiveJson::Kind;

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  std::optional<NaiveJson> value(int depth) {
    skip_space();
    if (depth == kDepth) return std::nullopt;
    if (peek() == '"') return string();
    if (peek() == '[') return list(depth);
    if (peek() == '{') return object(depth);
    return number();
  }

  // Digits without leading zeros, at most 2^64 - 1; -0 is 0.
  std::optional<NaiveJson> number() {
    if (take('-') && peek() != '0') return std::nullopt;
    const std::size_t first = at_;
    std::uint64_t number = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(peek() - '0');
      if (number > (~std::uint64_t{0} - digit) / 10) return std::nullopt;
      number = number * 10 + digit;
    }
    const std::size_t digits = at_ - first;
    if (digits == 0 || (digits > 1 && text_[first] == '0')) return std::nullopt;
    if (first > 0 && text_[first - 1] == '-' && number != 0) return std::nullopt;
    return NaiveJson{Kind::number, "", number, {}, {}};
  }

  std::optional<std::uint32_t> four_digits() {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return std::nullopt;
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    return code;
  }

  // After "\u": one code unit, or the two of a surrogate pair.
  bool unicode(std::string& out) {
    const auto first = four_digits();
    if (!first || (*first >= 0xdc00 && *first < 0xe000)) return false;
    std::uint32_t code = *first;
    if (code >= 0xd800 && code < 0xdc00) {
      if (!take('\\') || !take('u')) return false;
      const auto second = four_digits();
      if (!second || *second < 0xdc00 || *second >= 0xe000) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (*second - 0xdc00);
    }
    append(out, code);
    return true;
  }

  static void append(std::string& out, std::uint32_t code) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | code >> 6);
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xe0 | code >> 12);
      tail(6), tail(0);
    } else {
      out += static_cast<char>(0xf0 | code >> 18);
      tail(12), tail(6), tail(0);
    }
  }

  bool escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return false;
    const char name = text_[at_++];
    if (name == 'u') return unicode(out);
    const std::size_t known = kNames.find(name);
    if (known == kNames.npos) return false;
    out += kValues[known];
    return true;
  }

  std::optional<NaiveJson> string() {
    std::string text;
    ++at_;
    while (!take('"')) {
      if (at_ == text_.size() || static_cast<unsigned char>(peek()) < 0x20) return std::nullopt;
      if (!take('\\')) {
        text += text_[at_++];
      } else if (!escape(text)) {
        return std::nullopt;
      }
    }
    if (!is_utf8(text)) return std::nullopt;
    return NaiveJson{Kind::text, std::move(text), 0, {}, {}};
  }

  std::optional<NaiveJson> list(int depth) {
    NaiveJson all{Kind::list, "", 0, {}, {}};
    ++at_;
    skip_space();
    if (take(']')) return all;
    do {
      auto item = value(depth + 1);
      if (!item) return std::nullopt;
      all.items.push_back(std::move(*item));
      skip_space();
    } while (take(','));
    if (!take(']')) return std::nullopt;
    return all;
  }

  std::optional<NaiveJson> object(int depth) {
    NaiveJson all{Kind::object, "", 0, {}, {}};
    ++at_;
    skip_space();
    if (take('}')) return all;
    do {
      skip_space();
      if (peek() != '"') return std::nullopt;
      auto key = string();
      skip_space();
      if (!key || all.find(key->text) != nullptr || !take(':')) return std::nullopt;
      auto member = value(depth + 1);
      if (!member) return std::nullopt;
      all.keys.push_back(std::move(key->text));
      all.items.push_back(std::move(*member));
      skip_space();
    } while (take(','));
    if (!take('}')) return std::nullopt;
    return all;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const NaiveJson* NaiveJson::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

std::optional<NaiveJson> parse_naively(std::string_view text) { return Parser(text).document(); }

}  // namespace clearformer::fuzz
