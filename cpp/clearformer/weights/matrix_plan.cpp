#include "clearformer/weights/matrix_plan.h"

#include <algorithm>

namespace clearformer {

void MatrixPlan::add(const StoredName& stored, MatrixFormat format) {
  const auto [found, is_new] =
      entries_.try_emplace(stored.name, Entry{format, stored.layout, stored.experts != 0});
  if (!is_new) found->second.format = std::min(found->second.format, format);
}

const MatrixPlan::Entry* MatrixPlan::find(std::string_view stored_name) const {
  const auto found = entries_.find(stored_name);
  if (found == entries_.end()) return nullptr;
  const auto& [format, layout, stacked] = found->second;
  return format == MatrixFormat::f32 && layout == Layout::out_in ? nullptr : &found->second;
}

}  // namespace clearformer
