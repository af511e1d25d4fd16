// Calls of the WebAssembly module's exported functions, for the tests that fail allocations: building arguments, reading
// results and creating JavaScript objects takes none of the module's memory.
#pragma once

#include <emscripten/bind.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "allocation/failing_memory.h"
#include "allocation/subjects.h"
#include "bindings/functions.h"
#include "support/files.h"

namespace clearformer::test {

using bindings::BorderFunction;
using emscripten::val;

/// The object of an expression of JavaScript, in which F(…dims) is a tensor of floats, I(dims, …numbers) one of integers.
inline val object_of(const char* expression) {
  const val evaluate = val::global("eval");
  static const bool prepared = [&] {
    evaluate(val::u8string(
        "globalThis.F = (...dims) => ({ dims, data:"
        " Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i + "
        "1)) });"
        "globalThis.I = (dims, ...numbers) => ({ dims, data: Int32Array.from(numbers) });"));
    return true;
  }();
  static_cast<void>(prepared);
  return evaluate(val::u8string(expression));
}

/// The members of an object in JavaScript.
class Members {
 public:
  Members() = default;
  /// Those of the object of an expression.
  explicit Members(const char* expression) : object_(object_of(expression)) {}

  Members& with(const char* key, const val& value) {
    object_.set(key, value);
    return *this;
  }
  Members& with(const char* key, double value) { return with(key, val(value)); }
  Members& with(const char* key, const char* text) { return with(key, val::u8string(text)); }
  /// Those of another object.
  Members& with(const Members& others) {
    val::global("Object").call<void>("assign", object_, others.object_);
    return *this;
  }
  val object() const { return object_; }

 private:
  val object_ = val::object();
};

/// Thrown for a call that failed, with its error code.
struct Refused {
  std::string code;
};

/// The hash of results.
class Results {
 public:
  /// All typed arrays in a value, in insertion order.
  void add(const val& value) {
    if (value.isUndefined() || value.isNull() || value.isString() || value.isNumber()) return;
    if (value.isTrue() || value.isFalse()) return;
    if (!value["BYTES_PER_ELEMENT"].isUndefined()) return add_numbers(value);
    const val members = val::global("Object").call<val>("values", value);
    const auto count = members["length"].as<unsigned>();
    for (unsigned i = 0; i < count; ++i) add(members[i]);
  }
  std::uint64_t sum() const { return digest_.sum(); }

 private:
  void add_numbers(const val& data) {
    const auto count = data["length"].as<std::size_t>();
    static float numbers[1 << 16];
    ASSERT_LE(count, std::size(numbers));
    if (data["constructor"]["name"].equals(val("Float32Array"))) {
      val(emscripten::typed_memory_view(count, numbers)).call<void>("set", data);
    } else {
      auto* integers = reinterpret_cast<std::int32_t*>(numbers);
      val(emscripten::typed_memory_view(count, integers)).call<void>("set", data);
    }
    digest_.add(numbers, count * sizeof(float));
  }

  Digest digest_;
};

/// Calls exported functions and releases the handles they return.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  ~Session() {
    for (std::size_t i = 0; i < count_; ++i) {
      bindings::answer(bindings::release, Members().with("handle", handles_[i]).object());
    }
  }

  /// The call's value; throws Refused, and lets all later allocations succeed.
  template <BorderFunction function>
  val call(const Members& given) {
    return call(function, given);
  }
  val call(BorderFunction function, const Members& given) {
    const val answer = bindings::answer(function, given.object());
    if (answer["ok"].isTrue()) return answer["value"];
    stop_failing();
    throw Refused{bindings::text_of(answer["error"]["code"]) + " " +
                  bindings::text_of(answer["error"]["message"])};
  }

  /// Does it, and once more if it was refused for lack of memory, as a caller may.
  template <class Work>
  auto attempt(Work work) -> decltype(work()) {
    try {
      return work();
    } catch (const Refused& refusal) {
      if (!refusal.code.starts_with("out_of_memory")) throw;
      ++refused_;
    }
    return work();
  }
  /// The value of a call that is repeated if it was refused for lack of memory.
  template <BorderFunction function>
  val again(const Members& given) {
    return attempt([&] { return call(function, given); });
  }

  val keep(const val& handle) {
    handles_.at(count_++) = handle;
    return handle;
  }
  std::size_t refused() const { return refused_; }

 private:
  std::array<val, 64> handles_;
  std::size_t count_ = 0, refused_ = 0;
};

/// The texts and weights of a model, read before allocations fail.
class Files {
 public:
  explicit Files(const Subject& subject)
      : subject_(subject),
        folder_(fixture_path(std::string("models/") + subject.folder)),
        config_(read_bytes(folder_ + "/config.json")),
        weights_(read_bytes(folder_ + "/model.safetensors")) {}

  Members described() const {
    return Members()
        .with("config", config_.c_str())
        .with("config_name", "config.json")
        .with("task", subject_.task);
  }

  /// The handle of a checkpoint that was read.
  val checkpoint(Session& session) const {
    const Members opening = described().with("dtype", "fp32");
    const val handle = session.keep(session.call<bindings::checkpoint_open>(opening)["checkpoint"]);
    read(session, handle, "model.safetensors", weights_);
    return handle;
  }

  /// What model_create returns.
  val model(Session& session) const {
    const val created = session.call<bindings::model_create>(
        described().with("checkpoint", checkpoint(session)).with("cache_dtype", "fp32"));
    session.keep(created["model"]);
    return created;
  }

  /// Passes a file to a checkpoint.
  static void read(Session& session, const val& checkpoint, const char* name,
                   const std::string& bytes) {
    const auto size = static_cast<double>(bytes.size());
    session.call<bindings::checkpoint_begin_file>(
        Members().with("checkpoint", checkpoint).with("name", name).with("bytes", size));
    for (std::size_t at = 0; at < bytes.size();) {
      const Members given = Members().with("checkpoint", checkpoint);
      const val window = session.call<bindings::checkpoint_window>(given);
      const auto length = std::min(window["length"].as<std::size_t>(), bytes.size() - at);
      auto* to = reinterpret_cast<char*>(window["pointer"].as<std::size_t>());
      std::memcpy(to, bytes.data() + at, length);
      session.call<bindings::checkpoint_commit>(
          Members().with(given).with("length", static_cast<double>(length)));
      at += length;
    }
    session.call<bindings::checkpoint_end_file>(Members().with("checkpoint", checkpoint));
  }

  /// The file, for inspect.
  val headers() const {
    const val start = val(emscripten::typed_memory_view(
        weights_.size(), reinterpret_cast<const std::uint8_t*>(weights_.data())));
    const val files = val::array();
    files.call<void>("push", Members()
                                 .with("name", "model.safetensors")
                                 .with("bytes", static_cast<double>(weights_.size()))
                                 .with("start", start.call<val>("slice"))
                                 .object());
    return files;
  }

  /// Inputs of a forward pass.
  Members inputs() const {
    if (subject_.is("vit")) return Members("({ pixel_values: F(1, 1, 20, 20) })");
    Members given("({ input_ids: I([1, 4], 5, 8, 11, 14) })");
    if (subject_.is("t5")) given.with("decoder_input_ids", given.object()["input_ids"]);
    return given;
  }

  const Subject& subject() const { return subject_; }

 private:
  const Subject subject_;
  const std::string folder_, config_, weights_;
};

}  // namespace clearformer::test
