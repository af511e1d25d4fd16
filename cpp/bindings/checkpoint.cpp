// Bindings: build info, handles, and loading a checkpoint as it streams in.

#include <emscripten/heap.h>

#include "bindings/functions.h"
#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/kernels/quantized_matmul.h"
#include "clearformer/simd/dispatch.h"

namespace clearformer::bindings {

using emscripten::val;

Handles& handles() {
  static Handles all = [] {
    budget_memory();
    return Handles();
  }();
  return all;
}

namespace {
std::shared_ptr<CheckpointReader> checkpoint_of(const Arguments& arguments) {
  return handles().get<CheckpointReader>(arguments.handle("checkpoint"), "checkpoint");
}
}  // namespace

val build_info(const Arguments&) {
  val info = val::object();
  put(info, "version", to_value(CLEARFORMER_VERSION));
  put(info, "simd", to_value(simd::name_of(simd::selected())));
  put(info, "dot_bits", kernels::dot_bits());
  put(info, "heap_bytes", static_cast<double>(emscripten_get_heap_size()));
  put(info, "most_heap_bytes", static_cast<double>(emscripten_get_heap_max()));
  return info;
}

val checkpoint_open(const Arguments& arguments) {
  const std::string dtype = arguments.text("dtype");
  const MatrixFormat format = expect_matrix_format(dtype);
  if (is_quantized(format) && !kernels::integer_products_are_right()) {
    fail(
        ErrorCode::unsupported, "dtype \"", dtype,
        "\": this engine computes relaxed SIMD's dot products wrong (V8 before 11.4, with a flag); "
        "load with deterministic: true");
  }
  MatrixPlan plan;
  if (arguments.has("config")) {
    plan = plan_matrices(arguments.text("config"), task_in(arguments), format,
                         arguments.text("config_name"));
  }
  auto reader = std::make_shared<CheckpointReader>(std::move(plan));
  if (arguments.has("index")) {
    reader->expect_places(ShardIndex::parse(arguments.text("index"), arguments.text("index_name")));
  }
  val result = val::object();
  put(result, "checkpoint", handles().add(std::move(reader)));
  return result;
}

val checkpoint_index(const Arguments& arguments) {
  const ShardIndex index = ShardIndex::parse(arguments.text("text"), arguments.text("name"));
  val result = val::object();
  put(result, "files", to_value(index.files));
  put(result, "total_size",
      index.total_size == 0 ? val::null() : val(static_cast<double>(index.total_size)));
  return result;
}

val checkpoint_begin_file(const Arguments& arguments) {
  checkpoint_of(arguments)->begin_file(arguments.text("name"),
                                       static_cast<std::uint64_t>(arguments.whole("bytes")));
  return val::object();
}

val checkpoint_window(const Arguments& arguments) {
  const auto reader = checkpoint_of(arguments);
  const CheckpointReader::Window window = reader->window();
  if (window.size == 0) {
    fail(ErrorCode::malformed_file, reader->file(), ": bytes follow its last tensor");
  }
  val result = val::object();
  put(result, "pointer", static_cast<double>(reinterpret_cast<std::uintptr_t>(window.data)));
  put(result, "length", static_cast<double>(window.size));
  return result;
}

val checkpoint_commit(const Arguments& arguments) {
  checkpoint_of(arguments)->commit(arguments.count("length"));
  return val::object();
}

val checkpoint_end_file(const Arguments& arguments) {
  checkpoint_of(arguments)->end_file();
  return val::object();
}

val release(const Arguments& arguments) {
  handles().release(arguments.handle("handle"));
  return val::object();
}

}  // namespace clearformer::bindings
