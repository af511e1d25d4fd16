// Bindings: memory in use, by purpose.

#include <emscripten/heap.h>

#include <algorithm>
#include <new>
#include <set>

#include "bindings/functions.h"
#include "clearformer/tensor/memory_budget.h"
#include "clearformer/tensor/scratch.h"

namespace clearformer::bindings {

using emscripten::val;

MemoryUse Handles::counted() const {
  MemoryUse use;
  std::set<const void*> counted;  // a cache may be held by both its handle and a generation
  const auto add_model = [&](const OpenModel& open) {
    if (!counted.insert(&open).second) return;
    use.weights += open.model->weight_bytes();
    use.workspace += open.model->workspace_bytes();
  };
  const auto add_cache = [&](const KeyValueCache& cache) {
    if (counted.insert(&cache).second) use.cache += cache.bytes();
  };
  for (const auto& [handle, object] : objects_) {
    if (const auto* reader = std::get_if<std::shared_ptr<CheckpointReader>>(&object)) {
      use.weights += static_cast<std::size_t>((*reader)->weight_bytes());
    } else if (const auto* open = std::get_if<std::shared_ptr<OpenModel>>(&object)) {
      add_model(**open);
    } else if (const auto* cache = std::get_if<std::shared_ptr<KeyValueCache>>(&object)) {
      add_cache(**cache);
    } else if (const auto* going = std::get_if<std::shared_ptr<OpenGeneration>>(&object)) {
      add_model(*(*going)->model);
      add_cache((*going)->generation.cache());
    } else if (const auto* optimizer = std::get_if<std::shared_ptr<OpenOptimizer>>(&object)) {
      use.workspace += (*optimizer)->bytes();
    }
  }
  use.workspace += scratch_bytes();
  return use;
}

MemoryUse Handles::memory() {
  try {
    use_ = counted();
  } catch (const std::bad_alloc&) {
    // calls that only read, or have done their work, do not fail because of it
  }
  return use_;
}

void budget_memory() {
  memory_budget().limit = emscripten_get_heap_max();
  memory_budget().used = [] { return std::uint64_t{handles().memory().total()}; };
}

std::size_t Handles::note_peak() { return peak_ = std::max(peak_, memory().total()); }

val memory_use(const Arguments&) {
  const std::size_t peak = handles().note_peak();
  const MemoryUse use = handles().memory();
  val result = val::object();
  put(result, "weights", static_cast<double>(use.weights));
  put(result, "cache", static_cast<double>(use.cache));
  put(result, "workspace", static_cast<double>(use.workspace));
  put(result, "peak", static_cast<double>(peak));
  return result;
}

}  // namespace clearformer::bindings
