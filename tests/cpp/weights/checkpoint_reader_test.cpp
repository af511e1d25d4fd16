#include "clearformer/weights/checkpoint_reader.h"

#include <gtest/gtest.h>

#ifdef __linux__
#include <unistd.h>
#endif

#include <cmath>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/fixture.h"
#include "support/random.h"
#include "support/safetensors_file.h"

namespace clearformer::test {
namespace {

const std::string kFile = "model.safetensors";

// One tensor of every supported dtype, one without elements, one scalar.
std::string small_file() {
  return safetensors(
      R"({"__metadata__": {"format": "pt"},
          "f": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
          "h": {"dtype": "F16", "shape": [3], "data_offsets": [16, 22]},
          "b": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [22, 26]},
          "none": {"dtype": "F32", "shape": [0, 4], "data_offsets": [26, 26]},
          "i": {"dtype": "I32", "shape": [1], "data_offsets": [26, 30]},
          "l": {"dtype": "I64", "shape": [1], "data_offsets": [30, 38]},
          "u": {"dtype": "U8", "shape": [1], "data_offsets": [38, 39]},
          "t": {"dtype": "BOOL", "shape": [1], "data_offsets": [39, 40]},
          "s": {"dtype": "F32", "shape": [], "data_offsets": [40, 44]}})",
      bytes_of<float>({1.5f, -2.0f, 3.0f, 1e-40f}) +
          bytes_of<std::uint16_t>({0x3c00, 0xc000, 0x7c00}) +
          bytes_of<std::uint16_t>({0x3f80, 0xc040}) + bytes_of<std::int32_t>({-7}) +
          bytes_of<std::int64_t>({1}) + "\x05\x01" + bytes_of<float>({0.25f}));
}

void expect_small_file(Weights& weights) {
  EXPECT_EQ(weights.names().size(), 9u);
  EXPECT_EQ(Numbers(take(weights, "f", {2, 2})).values,
            (std::vector<double>{1.5, -2.0, 3.0, double{1e-40f}}));
  EXPECT_EQ(Numbers(take(weights, "h", {3})).values, (std::vector<double>{1.0, -2.0, INFINITY}));
  EXPECT_EQ(Numbers(take(weights, "b", {1, 2})).values, (std::vector<double>{1.0, -3.0}));
  EXPECT_EQ(take(weights, "none", {0, 4}).elements(), 0u);
  EXPECT_EQ(take(weights, "s", {}).f32()[0], 0.25f);
  EXPECT_EQ(weights.unused(), (std::vector<std::string>{"i", "l", "t", "u"}));
}

TEST(CheckpointReader, ReadsEveryKindOfTensorInChunksOfAnySize) {
  const std::string file = small_file();
  for (std::size_t chunk = 1; chunk <= file.size(); ++chunk) {
    SCOPED_TRACE(concat("chunks of ", chunk));
    Weights weights = read_safetensors(file, chunk);
    expect_small_file(weights);
    if (HasFailure()) return;
  }
}

// A file truncated anywhere, with its actual size known or a larger one announced.
TEST(CheckpointReader, AFileCutAnywhereIsRefused) {
  const std::string file = small_file();
  for (std::size_t length = 0; length < file.size(); ++length) {
    SCOPED_TRACE(concat("cut to ", length));
    const std::string_view cut = std::string_view(file).substr(0, length);
    expect_error(ErrorCode::malformed_file, {kFile}, [&] { read_safetensors(cut); });
    CheckpointReader reader;
    expect_error(ErrorCode::malformed_file, {kFile, "ends early"},
                 [&] { feed(reader, kFile, cut, 5, file.size()); });
  }
}

TEST(CheckpointReader, SaysWhichTensorTheFileEndsIn) {
  const std::string file = small_file();
  CheckpointReader reader;
  expect_error(ErrorCode::malformed_file, {kFile, "ends early", "\"l\""}, [&] {
    feed(reader, kFile, std::string_view(file).substr(0, file.size() - 12), 3, file.size());
  });
}

TEST(CheckpointReader, BytesBehindTheTensorsAreRefused) {
  expect_error(ErrorCode::malformed_file, {kFile}, [] { read_safetensors(small_file() + "x"); });
}

// More than the 64 KiB that are widened at a time, in chunks that split elements.
TEST(CheckpointReader, SixteenBitFloatsAreExactInOddChunks) {
  std::vector<std::uint16_t> patterns;
  for (unsigned bits = 0; bits < 65536; ++bits)
    patterns.push_back(static_cast<std::uint16_t>(bits));
  for (const char* dtype : {"F16", "BF16"}) {
    const std::string file =
        safetensors(concat(R"({"w": {"dtype": ")", dtype,
                           R"(", "shape": [65536], "data_offsets": [0, 131072]}})"),
                    bytes_of(patterns));
    for (const std::size_t chunk : {1u, 3u, 4095u, 65535u, 65536u, 65537u, 1u << 20}) {
      Weights weights = read_safetensors(file, chunk);
      const Tensor tensor = take(weights, "w", {65536});
      for (unsigned bits = 0; bits < 65536; ++bits) {
        const auto pattern = static_cast<std::uint16_t>(bits);
        const float expected = dtype[0] == 'F' ? float_from_f16(pattern) : float_from_bf16(pattern);
        const float actual = tensor.f32()[bits];
        ASSERT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected)))
            << dtype << " pattern " << bits << " in chunks of " << chunk;
      }
    }
  }
}

TEST(CheckpointReader, StoredHalvesEqualTheReference) {
  CheckpointReader reader;
  reader.read_file(fixture_path("float_formats/stored_halves.safetensors"), "stored_halves");
  Weights weights = reader.finish();
  const Fixture fixture("float_formats");
  for (const char* format : {"fp16", "bf16"}) {
    const Tensor& expected = fixture.at(concat(format, "_to_float32")).output("values");
    expect_close(format, take(weights, format, expected.shape()), expected, Bound{});
  }
}

// Each format's 256 codes as torch converts them, repeated beyond what is widened at a time.
TEST(CheckpointReader, EightBitFloatsEqualTheReferenceInChunksOfAnySize) {
  const Fixture fixture("float_formats");
  CheckpointReader reader;
  reader.read_file(fixture_path("float_formats/stored_eighths.safetensors"), "stored_eighths");
  Weights stored = reader.finish();
  std::string data;
  for (int i = 0; i < 300 * 256; ++i) data += static_cast<char>(i % 256);
  for (const auto& [format, dtype] : {std::pair("e4m3", "F8_E4M3"), {"e5m2", "F8_E5M2"}}) {
    const Tensor& expected = fixture.at(concat(format, "_to_float32")).output("values");
    const auto same = [&](float actual, std::size_t code) {
      const float wanted = expected.f32()[code];
      return std::isnan(wanted) ? std::isnan(actual)
                                : actual == wanted && std::signbit(actual) == std::signbit(wanted);
    };
    const Tensor codes = take(stored, format, {256});
    for (std::size_t code = 0; code < 256; ++code) {
      EXPECT_TRUE(same(codes.f32()[code], code)) << format << " code " << code;
    }
    const std::string file =
        safetensors(concat(R"({"w": {"dtype": ")", dtype,
                           R"(", "shape": [300, 256], "data_offsets": [0, 76800]}})"),
                    data);
    for (const std::size_t chunk : {1u, 4095u, 65537u}) {
      Weights weights = read_safetensors(file, chunk);
      const Tensor tensor = take(weights, "w", {300, 256});
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < tensor.elements(); ++i) wrong += !same(tensor.f32()[i], i % 256);
      EXPECT_EQ(wrong, 0u) << dtype << " in chunks of " << chunk;
    }
  }
}

TEST(CheckpointReader, LargeTensorsArriveWhole) {
  const std::vector<float> values = Random(1).list(70'001);
  const std::string file =
      safetensors(R"({"w": {"dtype": "F32", "shape": [70001], "data_offsets": [0, 280004]}})",
                  bytes_of(values));
  for (const std::size_t chunk : {7u, 65536u, 1u << 20}) {
    Weights weights = read_safetensors(file, chunk);
    expect_same_bits("w", take(weights, "w", {70'001}),
                     TensorView(values.data(), DType::f32, {70'001}));
  }
}

TEST(CheckpointReader, CountsTheBytesOfTheWeights) {
  CheckpointReader reader;
  feed(reader, kFile, small_file());
  EXPECT_EQ(reader.weight_bytes(), 4u * 4 + 3 * 4 + 2 * 4 + 4 + 8 + 1 + 1 + 4);
}

TEST(CheckpointReader, DtypesNoLayerReadsArePassedOverAndRefusedByNameWhereTheyAreNeeded) {
  const std::pair<const char*, int> counts[] = {{"I8", 16}, {"F8_E8M0", 16}, {"F4", 32}, {"I16", 8},
                                                {"U32", 4}, {"F64", 2},      {"C64", 2}, {"U64", 2},
                                                {"I4", 31}, {"f32", 4}};
  for (const auto& [dtype, count] : counts) {
    const std::string header = concat(
        R"({"w": {"dtype": ")", dtype, R"(", "shape": [)", count,
        R"(], "data_offsets": [0, 16]}, "x": {"dtype": "F32", "shape": [1], "data_offsets": [16, 20]}})");
    for (const std::size_t chunk : {1u, 7u, 1u << 20}) {
      Weights weights = read_safetensors(safetensors(header, std::string(20, '\1')), chunk);
      EXPECT_FALSE(take(weights, "x", {1}).empty());
      weights.check(Weights::Unexpected::keep);
      EXPECT_EQ(weights.unused(), std::vector<std::string>{"w"});
      const bool known = SafetensorsHeader::bits_of(dtype).has_value();
      expect_error(known ? ErrorCode::unsupported : ErrorCode::malformed_file,
                   {kFile, "\"w\"", known ? "is not supported" : "unknown dtype", dtype,
                    std::string_view(dtype) == "U32" ? "MLX: load the checkpoint" : dtype},
                   [&] { take(weights, "w", {16}); });
    }
  }
}

TEST(CheckpointReader, TensorsOfTooManyDimensionsAreRefusedWhereTheyAreNeeded) {
  Weights weights = read_safetensors(safetensors(
      R"({"w": {"dtype": "U8", "shape": [1, 1, 1, 1, 1, 1, 1, 1, 4], "data_offsets": [0, 4]},
                      "x": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})",
      std::string(8, '\0')));
  EXPECT_EQ(take(weights, "x", {1}).f32()[0], 0.0f);
  expect_error(ErrorCode::unsupported, {kFile, "\"w\"", "more than 8 dimensions"},
               [&] { take(weights, "w", {4}); });
}

TEST(CheckpointReader, SeveralFilesAreOneCheckpoint) {
  const auto file = [](const char* name) {
    return safetensors(
        concat("{\"", name, R"(": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})"), "x");
  };
  CheckpointReader reader;
  feed(reader, "one.safetensors", file("a"));
  feed(reader, "two.safetensors", file("b"));
  expect_error(ErrorCode::malformed_file, {"three.safetensors", "\"a\"", "one.safetensors"},
               [&] { feed(reader, "three.safetensors", file("a")); });
}

TEST(CheckpointReader, ATensorInTwoFilesIsToldThoughTheIndexPlacesItInTheFirst) {
  const std::string file =
      safetensors(R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})", "x");
  CheckpointReader reader;
  reader.expect_places(ShardIndex::parse(R"({"weight_map": {"a": "one"}})", "index"));
  feed(reader, "one", file);
  expect_error(ErrorCode::malformed_file, {"two: tensor \"a\" is also in one"},
               [&] { feed(reader, "two", file); });
}

TEST(CheckpointReader, WeightsOfEightBitsWithScalesBesideThemAreRefused) {
  for (const char* scale : {"w.weight_scale", "w.weight_scale_inv", "w.scale_weight"}) {
    const auto file = [&](const char* dtype) {
      return safetensors(concat(R"({"w.weight": {"dtype": ")", dtype,
                                R"(", "shape": [1], "data_offsets": [0, 1]}, ")", scale,
                                R"(": {"dtype": "F32", "shape": [1], "data_offsets": [1, 5]}})"),
                         std::string(5, '\0'));
    };
    for (const char* dtype : {"F8_E4M3", "F8_E5M2"}) {
      expect_error(ErrorCode::unsupported, {kFile, scale, "scaled 8-bit weights are not supported"},
                   [&] { read_safetensors(file(dtype)); });
    }
    EXPECT_EQ(read_safetensors(file("U8")).names().size(), 2u);
  }
}

TEST(CheckpointReader, AnEmptyFileHoldsNothing) {
  EXPECT_TRUE(read_safetensors(safetensors("{}")).names().empty());
}

TEST(CheckpointReader, RefusesCallsOutOfOrder) {
  CheckpointReader reader;
  EXPECT_EQ(reader.window().size, 0u);
  expect_error(ErrorCode::invalid_argument, {"window"}, [&] { reader.commit(1); });
  reader.begin_file(kFile, 100);
  expect_error(ErrorCode::invalid_argument, {kFile, "still open"},
               [&] { reader.begin_file("other", 100); });
  expect_error(ErrorCode::invalid_argument, {kFile, "still open"}, [&] { reader.finish(); });
  expect_error(ErrorCode::invalid_argument, {"9 bytes", "8"}, [&] { reader.commit(9); });
}

TEST(CheckpointReader, ATensorThatCannotBeAllocatedIsATypedError) {
  // 2^58 floats: the header is valid for a file of that size, but the machine has no such memory.
  const std::string header =
      R"({"w": {"dtype": "F32", "shape": [288230376151711744], "data_offsets": [0, 1152921504606846976]}})";
  CheckpointReader reader;
  expect_error(ErrorCode::out_of_memory, {}, [&] {
    feed(reader, kFile, safetensors(header), 64, 8 + header.size() + (std::uint64_t{1} << 60));
  });
}

TEST(CheckpointReader, AFileThatIsNotThereIsNamed) {
  CheckpointReader reader;
  expect_error(ErrorCode::invalid_argument, {"no/such.safetensors"},
               [&] { reader.read_file("no/such.safetensors", kFile); });
}

#ifdef __linux__
TEST(CheckpointReader, AFileWithoutASizeIsRefused) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string path = concat("/dev/fd/", ends[0]);
  CheckpointReader reader;
  expect_error(ErrorCode::invalid_argument, {path, "no regular file"},
               [&] { reader.read_file(path, kFile); });
  close(ends[0]);
  close(ends[1]);
}

TEST(CheckpointReader, AFolderIsNoFile) {
  CheckpointReader reader;
  expect_error(ErrorCode::invalid_argument, {fixture_path("functional"), "is a directory"},
               [&] { reader.read_file(fixture_path("functional"), kFile); });
}
#endif

TEST(CheckpointReader, AFileThatWasNotBegunCannotEnd) {
  CheckpointReader reader;
  expect_error(ErrorCode::invalid_argument, {"no file is open"}, [&] { reader.end_file(); });
}

}  // namespace
}  // namespace clearformer::test
