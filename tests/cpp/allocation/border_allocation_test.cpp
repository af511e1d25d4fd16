// The exported functions of the WebAssembly module with Embind's glue code and Emscripten's allocator. Fails every allocation
// in turn while a model is loaded, run, traced, used for generation and released: expects the answer out_of_memory, no leak,
// and the same bits afterwards. CLEARFORMER_EVERY_ALLOCATION=1 tries all allocations, otherwise a selection.
#include <emscripten/bind.h>
#include <emscripten/em_asm.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "allocation/failing_memory.h"
#include "allocation/subjects.h"
#include "bindings/functions.h"
#include "support/files.h"

namespace clearformer::test {
namespace {

using bindings::BorderFunction;
using emscripten::val;

// The members of an object in JavaScript; creating it allocates nothing in the module.
class Members {
 public:
  Members& with(const char* key, const val& value) {
    object_.set(key, value);
    return *this;
  }
  Members& with(const char* key, double value) { return with(key, val(value)); }
  Members& with(const char* key, const char* text) { return with(key, val::u8string(text)); }
  val object() const { return object_; }

 private:
  val object_ = val::object();
};

// Thrown for a call that failed, with its error code.
struct Refused {
  std::string code;
};

// Calls exported functions and releases the handles they return.
class Session {
 public:
  ~Session() {
    for (std::size_t i = 0; i < count_; ++i) {
      bindings::answer(bindings::release, Members().with("handle", handles_[i]).object());
    }
  }
  template <BorderFunction function>
  val call(const Members& given) {
    const val answer = bindings::answer(function, given.object());
    if (answer["ok"].isTrue()) return answer["value"];
    stop_failing();
    throw Refused{bindings::text_of(answer["error"]["code"])};
  }
  val keep(const val& handle) {
    handles_.at(count_++) = handle;
    return handle;
  }

 private:
  std::array<val, 16> handles_;
  std::size_t count_ = 0;
};

// A checkpoint, read before allocations fail.
class Border {
 public:
  explicit Border(const Subject& subject)
      : subject_(subject),
        folder_(fixture_path(std::string("models/") + subject.folder)),
        config_(read_bytes(folder_ + "/config.json")),
        weights_(read_bytes(folder_ + "/model.safetensors")),
        numbers_(1 << 16) {}

  // Everything a caller does with a model; returns a hash of all results.
  std::uint64_t live_through() {
    Digest digest;
    Session session;
    const val checkpoint = load(session);
    const val created = session.call<bindings::model_create>(
        described().with("checkpoint", checkpoint).with("cache_dtype", "fp32"));
    const val model = session.keep(created["model"]);
    session.call<bindings::model_hooks>(Members().with("model", model));
    val names = val::array();
    names.call<void>("push", val::u8string("*"));
    for (const bool watched : {false, true}) {
      Members given = inputs().with("model", model);
      if (watched) given.with("names", names).with("output_attentions", val(true));
      if (subject_.generates) given.with("use_cache", val(true));
      const val value = session.call<bindings::model_forward>(given);
      if (subject_.generates) session.keep(value["past_key_values"]);
      add_all(digest, value["outputs"]);
      if (watched) add_all(digest, value["captured"]);
    }
    if (subject_.generates) generate(session, model, digest);
    session.call<bindings::inspect>(described().with("files", headers()));
    session.call<bindings::memory_use>(Members());
    return digest.sum();
  }

 private:
  Members described() const {
    return Members()
        .with("config", config_.c_str())
        .with("config_name", "config.json")
        .with("task", subject_.task);
  }

  val load(Session& session) {
    const val opened = session.call<bindings::checkpoint_open>(described().with("dtype", "fp32"));
    const val checkpoint = session.keep(opened["checkpoint"]);
    session.call<bindings::checkpoint_begin_file>(
        Members()
            .with("checkpoint", checkpoint)
            .with("name", "model.safetensors")
            .with("bytes", static_cast<double>(weights_.size())));
    for (std::size_t at = 0; at < weights_.size();) {
      const Members given = Members().with("checkpoint", checkpoint);
      const val window = session.call<bindings::checkpoint_window>(given);
      const auto length = std::min(window["length"].as<std::size_t>(), weights_.size() - at);
      auto* to = reinterpret_cast<char*>(window["pointer"].as<std::size_t>());
      std::memcpy(to, weights_.data() + at, length);
      session.call<bindings::checkpoint_commit>(
          Members(given).with("length", static_cast<double>(length)));
      at += length;
    }
    session.call<bindings::checkpoint_end_file>(Members().with("checkpoint", checkpoint));
    return checkpoint;
  }

  val headers() const {
    val start = val(emscripten::typed_memory_view(
        weights_.size(), reinterpret_cast<const std::uint8_t*>(weights_.data())));
    val files = val::array();
    files.call<void>("push", Members()
                                 .with("name", "model.safetensors")
                                 .with("bytes", static_cast<double>(weights_.size()))
                                 .with("start", start.call<val>("slice"))
                                 .object());
    return files;
  }

  static val dims(std::initializer_list<int> sizes) {
    val all = val::array();
    for (const int size : sizes) all.call<void>("push", size);
    return all;
  }

  Members inputs() const {
    if (std::string_view(subject_.name) == "vit") {
      const float ramp[400] = {0.5f, -0.25f, 1.5f};
      const val data = val(emscripten::typed_memory_view(400, ramp)).call<val>("slice");
      return Members().with(
          "pixel_values", Members().with("data", data).with("dims", dims({1, 1, 20, 20})).object());
    }
    const std::int32_t tokens[] = {5, 8, 11, 14};
    const val data = val(emscripten::typed_memory_view(4, tokens)).call<val>("slice");
    const val ids = Members().with("data", data).with("dims", dims({1, 4})).object();
    Members given = Members().with("input_ids", ids);
    if (std::string_view(subject_.name) == "t5") given.with("decoder_input_ids", ids);
    return given;
  }

  void generate(Session& session, const val& model, Digest& digest) {
    for (const int beams : {1, 2}) {
      const val options = Members().with("max_new_tokens", 3).with("num_beams", beams).object();
      Members given = inputs().with("model", model).with("options", options);
      given.with("decoder_input_ids", val::undefined());
      const val generation =
          session.keep(session.call<bindings::generation_create>(given)["generation"]);
      const Members step =
          Members().with("generation", generation).with("output_scores", val(true));
      for (val value = val::object(); !value["done"].isTrue();) {
        value = session.call<bindings::generation_step>(step);
        add(digest, value["scores"]);
      }
      add(digest, session.call<bindings::generation_result>(step)["sequences"]);
    }
  }

  // All tensors of an object, in insertion order.
  void add_all(Digest& digest, const val& tensors) {
    const val values = val::global("Object").call<val>("values", tensors);
    const auto count = values["length"].as<unsigned>();
    EXPECT_NE(count, 0u);
    for (unsigned i = 0; i < count; ++i) add(digest, values[i]);
  }

  void add(Digest& digest, const val& tensor) {
    const val data = tensor["data"];
    const auto count = data["length"].as<std::size_t>();
    ASSERT_LE(count, numbers_.size());
    if (data["constructor"]["name"].equals(val("Float32Array"))) {
      val(emscripten::typed_memory_view(count, numbers_.data())).call<void>("set", data);
    } else {
      auto* integers = reinterpret_cast<std::int32_t*>(numbers_.data());
      val(emscripten::typed_memory_view(count, integers)).call<void>("set", data);
    }
    digest.add(numbers_.data(), count * sizeof(float));
  }

  const Subject subject_;
  const std::string folder_, config_, weights_;
  std::vector<float> numbers_;
};

// Address 0 is the end of the stack, reached only by writes through a null pointer.
constexpr int kMark = 0x5eed;
void mark_address_0() {
  EM_ASM({ HEAP32[0] = $0; }, kMark);
}
bool is_marked() {
  return EM_ASM_INT({ return HEAP32[0]; }) == kMark;
}

class EveryAllocationAtTheBorder : public ::testing::TestWithParam<Subject> {};

TEST_P(EveryAllocationAtTheBorder, IsAnsweredOrDoneWithout) {
  Border border(GetParam());
  const std::uint64_t expected = border.live_through();  // including what is allocated once
  const std::size_t before = live_bytes();
  std::size_t refused = 0;
  mark_address_0();
  for (const Failing how : {Failing::once, Failing::from_on}) {
    bool whole = false;
    for (std::size_t which = 1; !whole && !HasFailure(); which += stride(97)) {
      fail_allocations(which, how);
      try {
        const std::uint64_t sum = border.live_through();
        whole = allocations() < which;
        stop_failing();
        EXPECT_EQ(sum, expected) << "allocation " << which;
      } catch (const Refused& refusal) {
        EXPECT_EQ(refusal.code, "out_of_memory") << "allocation " << which;
        ++refused;
      }
      EXPECT_EQ(live_bytes(), before) << "allocation " << which;
      EXPECT_TRUE(is_marked()) << "allocation " << which;
    }
    EXPECT_EQ(border.live_through(), expected);
  }
  EXPECT_GT(refused, 10u);
}

INSTANTIATE_TEST_SUITE_P(Subjects, EveryAllocationAtTheBorder, ::testing::ValuesIn(kSubjects),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace clearformer::test
