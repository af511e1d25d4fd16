#include "clearformer/weights/name_map.h"

namespace clearformer {

namespace {

// Whether `path` begins with the segments of `run`, up to a dot or the end.
bool begins_with(std::string_view path, std::string_view run) {
  if (path.substr(0, run.size()) != run) return false;
  return path.size() == run.size() || path[run.size()] == '.';
}

void append_segment(std::string& name, std::string_view segment) {
  if (segment.empty()) return;
  if (!name.empty() && name.back() != '.') name += '.';
  name += segment;
}

}  // namespace

StoredName NameMap::stored(std::string_view path) const {
  StoredName stored;
  std::string name;
  while (!path.empty()) {
    std::string_view run = path.substr(0, path.find('.'));
    std::string_view replacement = run;
    for (const NameRule& rule : rules_) {
      if (!begins_with(path, rule.ours)) continue;
      run = rule.ours;
      replacement = rule.theirs;
      if (rule.parts > 1) {
        stored.part = rule.part;
        stored.parts = rule.parts;
      }
      if (rule.layout == Layout::in_out) stored.layout = rule.layout;
      break;
    }
    append_segment(name, replacement);
    path.remove_prefix(run.size());
    if (!path.empty()) path.remove_prefix(1);
  }
  stored.name = prefix_ + name;
  return stored;
}

}  // namespace clearformer
