#include "clearformer/weights/name_map.h"

#include <algorithm>
#include <charconv>

#include "clearformer/tensor/pattern.h"

namespace clearformer {

namespace {

std::string_view first_segment(std::string_view path) { return path.substr(0, path.find('.')); }

// Removes the first segment and its dot.
void drop_segment(std::string_view& path) {
  const std::size_t dot = path.find('.');
  path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
}

// Length of the part of `path` that the segments of `run` match, up to a dot or the end; npos if they do not match.
// `any` becomes the segment that a '*' matched.
std::size_t covered(std::string_view path, std::string_view run, std::string_view& any) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (run[i] == '*') {
      any = first_segment(path.substr(length));
      length += any.size();
    } else if (length == path.size() || path[length++] != run[i]) {
      return std::string_view::npos;
    }
  }
  return length == path.size() || path[length] == '.' ? length : std::string_view::npos;
}

void append_segment(std::string& name, std::string_view segment) {
  if (segment.empty()) return;
  if (!name.empty() && name.back() != '.') name += '.';
  name += segment;
}

void append_run(std::string& name, std::string_view run, std::string_view any) {
  for (; !run.empty(); drop_segment(run)) {
    append_segment(name, first_segment(run) == "*" ? any : first_segment(run));
  }
}

}  // namespace

void NameMap::add(std::string_view rules) {
  const std::vector<std::string_view> lines = split(rules, '\n');
  rules_.insert(rules_.end(), lines.begin(), lines.end());
}

StoredName NameMap::stored(std::string_view path) const {
  StoredName stored;
  std::string name = prefix_;
  while (!path.empty()) {
    std::size_t length = first_segment(path).size();
    std::string_view replacement = first_segment(path), any;
    for (const std::string_view rule : rules_) {
      const std::string_view ours = rule.substr(0, rule.find(' '));
      const std::size_t fits = covered(path, ours, any);
      if (fits == std::string_view::npos) continue;
      length = fits;
      replacement = {};
      for (const std::string_view word : split(rule.substr(ours.size()))) {
        const auto digit = [&](std::size_t at) { return static_cast<std::size_t>(word[at] - '0'); };
        if (word == "turned") {
          stored.layout = Layout::in_out;
        } else if (word.size() > 1 && word[1] == '/') {
          stored.part = digit(0);
          stored.parts = digit(2);
          if (word.size() <= 3) continue;
          if (word[4] == 'e') {
            std::from_chars(any.data(), any.data() + any.size(), stored.expert);
            stored.experts = experts_;
          } else {
            stored.groups = word[4] == 'n' ? key_value_heads_ : digit(4);
          }
        } else {
          replacement = word;
        }
      }
      break;
    }
    if (!replacement.empty() && replacement.front() == '/') {
      name.clear();
      replacement.remove_prefix(1);
    }
    append_run(name, replacement, any);
    path.remove_prefix(std::min(length + 1, path.size()));
  }
  stored.name = std::move(name);
  return stored;
}

}  // namespace clearformer
