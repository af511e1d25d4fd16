// Matrices rounded while they stream in: the same bits as rounded at once, for any chunks.
#include "clearformer/tensor/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "clearformer/weights/scope.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/random.h"
#include "support/safetensors_file.h"

namespace clearformer::test {
namespace {

constexpr MatrixFormat kRounding[] = {MatrixFormat::f16, MatrixFormat::q8_fine, MatrixFormat::q8,
                                      MatrixFormat::q4};
constexpr std::size_t kRows = 7, kColumns = 37;

MatrixPlan plan_of(const StoredName& stored, MatrixFormat format) {
  MatrixPlan plan;
  plan.add(stored, format);
  return plan;
}

std::string file_of(const std::string& dtype, const std::string& bytes, std::size_t rows = kRows,
                    std::size_t columns = kColumns) {
  return safetensors(concat(R"({"w": {"dtype": ")", dtype, R"(", "shape": [)", rows, ", ", columns,
                            R"(], "data_offsets": [0, )", bytes.size(), "]}}"),
                     bytes);
}

Weights read(MatrixPlan plan, const std::string& file, std::size_t chunk = 1 << 20) {
  CheckpointReader reader(std::move(plan));
  feed(reader, "model.safetensors", file, chunk);
  return reader.finish();
}

Matrix take_matrix(Weights& weights, const StoredName& stored, const Shape& shape) {
  Matrix matrix = weights.take_matrix(stored, shape, MatrixRole::projection, "ours");
  EXPECT_TRUE(weights.problems().empty());
  return matrix;
}

void expect_same(const Matrix& found, const Matrix& expected) {
  ASSERT_EQ(found.format(), expected.format());
  ASSERT_EQ(found.outputs(), expected.outputs());
  ASSERT_EQ(found.inputs(), expected.inputs());
  ASSERT_EQ(found.bytes(), expected.bytes());
  EXPECT_EQ(std::memcmp(found.values().data(), expected.values().data(),
                        expected.values().view().bytes()),
            0);
  if (!is_quantized(expected.format())) return;
  EXPECT_EQ(std::memcmp(found.scales().data(), expected.scales().data(), expected.scales().bytes()),
            0);
}

// The values as a file of that dtype stores them, and after reading.
struct Stored {
  Stored(const std::string& dtype, std::size_t rows, std::size_t columns)
      : values(Random(rows).tensor({rows, columns})) {
    for (std::size_t i = 0; i < values.elements(); ++i) {
      float& value = values.f32()[i];
      if (dtype == "F32") continue;
      const bool half = dtype == "F16";
      halves.push_back(half ? f16_from_float(value) : bf16_from_float(value));
      value = half ? float_from_f16(halves.back()) : float_from_bf16(halves.back());
    }
    const auto* floats = reinterpret_cast<const char*>(values.f32());
    bytes = dtype == "F32" ? std::string(floats, values.view().bytes()) : bytes_of(halves);
  }
  Tensor values;
  std::vector<std::uint16_t> halves;
  std::string bytes;
};

Tensor turned(const Tensor& values) {
  Tensor out({values.dim(1), values.dim(0)});
  for (std::size_t r = 0; r < values.dim(0); ++r) {
    for (std::size_t c = 0; c < values.dim(1); ++c) {
      out.f32()[c * values.dim(0) + r] = values.f32()[r * values.dim(1) + c];
    }
  }
  return out;
}

class Rounding : public ::testing::TestWithParam<const char*> {};

TEST_P(Rounding, GivesTheSameBitsInChunksOfAnySize) {
  const Stored stored(GetParam(), kRows, kColumns);
  const std::string file = file_of(GetParam(), stored.bytes);
  for (const MatrixFormat format : kRounding) {
    const Matrix expected = Matrix::of(stored.values, format);
    for (const std::size_t chunk : {1u, 2u, 3u, 7u, 64u, 147u, 148u, 149u, 1000u, 1u << 20}) {
      SCOPED_TRACE(concat(to_string(format), ", chunks of ", chunk));
      Weights weights = read(plan_of({"w"}, format), file, chunk);
      expect_same(take_matrix(weights, {"w"}, {kRows, kColumns}), expected);
    }
  }
}

// More rows than a strip holds, with a shorter last strip.
TEST_P(Rounding, GoesOnFromStripToStrip) {
  const std::size_t rows = 300, columns = 100;
  const Stored stored(GetParam(), rows, columns);
  const std::string file = file_of(GetParam(), stored.bytes, rows, columns);
  for (const std::size_t chunk : {4001u, 1u << 20}) {
    Weights weights = read(plan_of({"w"}, MatrixFormat::q8), file, chunk);
    expect_same(take_matrix(weights, {"w"}, {rows, columns}),
                Matrix::of(stored.values, MatrixFormat::q8));
  }
}

TEST_P(Rounding, TurnsWhatLiesInOutBeforeRowsAreRounded) {
  const Stored stored(GetParam(), kRows, kColumns);
  const StoredName name{"w", 0, 1, Layout::in_out};
  for (const MatrixFormat format : kRounding) {
    Weights weights = read(plan_of(name, format), file_of(GetParam(), stored.bytes), 13);
    expect_same(take_matrix(weights, name, {kColumns, kRows}),
                Matrix::of(turned(stored.values), format));
  }
}

// More rows than a strip holds and more columns than a band, with a shorter last one of each.
TEST_P(Rounding, TurnsFloatsFromStripToStrip) {
  const std::size_t rows = 150, columns = 37;
  const Stored stored(GetParam(), rows, columns);
  const std::string file = file_of(GetParam(), stored.bytes, rows, columns);
  const StoredName name{"w", 0, 1, Layout::in_out};
  for (const std::size_t chunk : {13u, 4001u, 1u << 20}) {
    Weights weights = read(plan_of(name, MatrixFormat::f32), file, chunk);
    expect_same(take_matrix(weights, name, {columns, rows}),
                Matrix::of(turned(stored.values), MatrixFormat::f32));
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Rounding, ::testing::Values("F32", "F16", "BF16"),
                         [](const auto& dtype) { return std::string(dtype.param); });

// The stack is rounded row by row as one matrix of all experts' rows.
TEST(RoundedParts, AreThoseOfExpertsInAStack) {
  constexpr std::size_t kExperts = 3, kOut = 150, kIn = 70;
  const Stored stored("BF16", kExperts * 2 * kOut, kIn);
  const std::string file =
      safetensors(concat(R"({"w": {"dtype": "BF16", "shape": [)", kExperts, ", ", 2 * kOut, ", ",
                         kIn, R"(], "data_offsets": [0, )", stored.bytes.size(), "]}}"),
                  stored.bytes);
  StoredName name{"w", 0, 2};
  name.experts = kExperts;
  for (const MatrixFormat format : kRounding) {
    Weights weights = read(plan_of(name, format), file, 4001);
    for (name.expert = 0; name.expert < kExperts; ++name.expert) {
      for (name.part = 0; name.part < 2; ++name.part) {
        Tensor rows({kOut, kIn});
        std::memcpy(rows.data(),
                    stored.values.f32() + (2 * name.expert + name.part) * rows.elements(),
                    rows.view().bytes());
        expect_same(take_matrix(weights, name, {kOut, kIn}), Matrix::of(rows, format));
      }
    }
    weights.check(Weights::Unexpected::refuse);
  }
}

TEST(RoundedParts, AreRowsOfOneTensorInEitherLayout) {
  constexpr std::size_t kParts = 3, kOut = 4, kIn = 33;
  for (const Layout layout : {Layout::out_in, Layout::in_out}) {
    const bool turns = layout == Layout::in_out;
    const std::size_t rows = turns ? kIn : kParts * kOut, columns = turns ? kParts * kOut : kIn;
    const Stored stored("F32", rows, columns);
    const Tensor outputs_first = turns ? turned(stored.values) : stored.values.clone();
    const Matrix whole = Matrix::of(outputs_first, MatrixFormat::q4);
    MatrixPlan plan = plan_of({"w", 0, kParts, layout}, MatrixFormat::q4);
    Weights weights = read(std::move(plan), file_of("F32", stored.bytes, rows, columns));
    for (const std::size_t part : {2u, 0u, 1u}) {
      expect_same(take_matrix(weights, {"w", part, kParts, layout}, {kOut, kIn}),
                  whole.slice({part * kOut, kOut}));
      EXPECT_EQ(weights.unfinished().empty(), part == 1);  // the last one
    }
    EXPECT_EQ(weights.bytes_taken(), whole.bytes());
    EXPECT_THROW(
        weights.take_matrix({"w", 0, kParts, layout}, {kOut, kIn}, MatrixRole::projection, ""),
        Error);
  }
}

// The rows of a group are rounded as those of a whole tensor.
TEST(RoundedParts, AreRowsOfEachGroup) {
  constexpr std::size_t kGroups = 2, kOut = 4, kIn = 33;
  const Stored stored("F32", 3 * kOut, kIn);
  const Matrix whole = Matrix::of(stored.values, MatrixFormat::q8);
  MatrixPlan plan = plan_of({"w", 0, 3}, MatrixFormat::q8);
  Weights weights = read(std::move(plan), file_of("F32", stored.bytes, 3 * kOut, kIn));
  for (const std::size_t part : {0u, 1u, 2u}) {
    const StoredName name{"w", part, 3, Layout::out_in, kGroups};
    expect_same(take_matrix(weights, name, {kOut, kIn}), whole.slice({part * 2, 2, 6, kGroups}));
  }
  weights.check(Weights::Unexpected::keep);
}

// If a row cannot be represented, all of the matrix becomes fp32; the rows before it keep their rounded values.
TEST(RoundedMatrix, WithARowThatCannotBeHeldBecomesF32) {
  for (const MatrixFormat format : kRounding) {
    Stored stored("F32", kRows, kColumns);
    stored.values.f32()[3 * kColumns + 5] = NAN;
    const std::string bytes(reinterpret_cast<const char*>(stored.values.f32()),
                            stored.values.view().bytes());
    Weights weights = read(plan_of({"w"}, format), file_of("F32", bytes), 50);
    const Matrix found = take_matrix(weights, {"w"}, {kRows, kColumns});
    ASSERT_EQ(found.format(), MatrixFormat::f32);
    const Tensor first =
        Tensor::copy_of(TensorView(stored.values.f32(), DType::f32, {3, kColumns}));
    const Matrix expected = Matrix::of(first, format).widened();
    EXPECT_EQ(std::memcmp(found.values().data(), expected.values().data(),
                          expected.values().view().bytes()),
              0);
    EXPECT_EQ(std::memcmp(found.values().f32() + 3 * kColumns, stored.values.f32() + 3 * kColumns,
                          (kRows - 3) * kColumns * sizeof(float)),
              0);
  }
}

TEST(RoundedMatrix, TakenAsATensorIsWidened) {
  const Stored stored("F32", kRows, kColumns);
  Weights weights = read(plan_of({"w"}, MatrixFormat::q8), file_of("F32", stored.bytes));
  const Tensor found = take(weights, "w", {kRows, kColumns});
  const Matrix wide = Matrix::of(stored.values, MatrixFormat::q8).widened();
  expect_same_bits("w", found, wide.values());
}

TEST(RoundedMatrix, OfAnotherShapeIsReportedWithItsShapeInTheFile) {
  const Stored stored("F32", kRows, kColumns);
  for (const Layout layout : {Layout::out_in, Layout::in_out}) {
    const StoredName name{"w", 0, 1, layout};
    Weights weights = read(plan_of(name, MatrixFormat::q8), file_of("F32", stored.bytes));
    weights.take_matrix(name, {8, 9}, MatrixRole::projection, "");
    expect_error(ErrorCode::shape_mismatch,
                 {"\"w\"", "[7, 37]", layout == Layout::out_in ? "[8, 9]" : "[9, 8]"},
                 [&] { weights.check(Weights::Unexpected::keep); });
  }
}

TEST(RoundedMatrix, OfWholeNumbersIsADtypeMismatchAsEver) {
  const std::string bytes = bytes_of<std::int32_t>({1, 2, 3, 4});
  Weights weights = read(plan_of({"w"}, MatrixFormat::q8), file_of("I32", bytes, 2, 2));
  weights.take_matrix({"w"}, {2, 2}, MatrixRole::projection, "");
  expect_error(ErrorCode::dtype_mismatch, {"\"w\"", "int32"},
               [&] { weights.check(Weights::Unexpected::keep); });
}

TEST(RoundedMatrix, CutAnywhereIsRefused) {
  const Stored stored("F16", kRows, kColumns);
  const std::string file = file_of("F16", stored.bytes);
  for (std::size_t missing = 1; missing <= stored.bytes.size(); ++missing) {
    CheckpointReader reader(plan_of({"w"}, MatrixFormat::q8));
    expect_error(ErrorCode::malformed_file, {"ends early", "\"w\""}, [&] {
      feed(reader, "f", std::string_view(file).substr(0, file.size() - missing), 11, file.size());
    });
  }
}

TEST(MatrixPlan, KeepsTheMostExactFormatOfStackedParts) {
  MatrixPlan plan;
  plan.add({"w", 0, 2, Layout::in_out}, MatrixFormat::q4);
  plan.add({"w", 1, 2, Layout::in_out}, MatrixFormat::q8);
  ASSERT_NE(plan.find("w"), nullptr);
  EXPECT_EQ(plan.find("w")->format, MatrixFormat::q8);
  EXPECT_EQ(plan.find("w")->layout, Layout::in_out);
  EXPECT_EQ(plan.find("v"), nullptr);
  plan.add({"w", 0, 2, Layout::in_out}, MatrixFormat::f32);
  ASSERT_NE(plan.find("w"), nullptr);  // transposed
  EXPECT_EQ(plan.find("w")->format, MatrixFormat::f32);
  plan.add({"as it is"}, MatrixFormat::q8);
  EXPECT_NE(plan.find("as it is"), nullptr);
  plan.add({"as it is"}, MatrixFormat::f32);
  EXPECT_EQ(plan.find("as it is"), nullptr);
}

TEST(RecordingWeights, WriteDownTheMatricesAndMissNothing) {
  std::vector<MatrixRequest> requests;
  Weights weights = Weights::recording(requests);
  const NameMap names;
  const WeightScope scope = WeightScope(weights, names) / "blocks.0";
  EXPECT_TRUE(scope.has("bias"));
  EXPECT_EQ(scope.stored_shape("bias"), std::nullopt);
  EXPECT_TRUE(scope.take("bias", {3}).empty());
  EXPECT_TRUE(scope.take_flat("bias", {3}).empty());
  EXPECT_TRUE(scope.take_matrix("weight", {3, 5}, MatrixRole::output).empty());
  weights.check(Weights::Unexpected::refuse);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].path, "blocks.0.weight");
  EXPECT_EQ(requests[0].role, MatrixRole::output);
  EXPECT_EQ(requests[0].outputs, 3u);
  EXPECT_EQ(requests[0].inputs, 5u);
}

}  // namespace
}  // namespace clearformer::test
