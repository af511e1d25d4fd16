// DeBERTa's relative positions: the row of the table for each of them, as transformers', and those without a bucket. Its
// scores are tested in whole models (architectures_test.cpp, hooks_reference_test.cpp).
#include "clearformer/layers/disentangled_attention.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/fixture.h"

namespace clearformer::test {
namespace {

RelativeTableConfig table_of(const Case& reference) {
  RelativeTableConfig config;
  config.buckets = reference.size_option("buckets");
  config.max_distance = reference.size_option("max_distance");
  config.span = reference.size_option("span");
  return config;
}

TEST(DisentangledAttention, EveryRowIsTheReference) {
  const Fixture fixture("positions");
  std::size_t cases = 0;
  for (const Case* reference : fixture.of_op("relative_rows")) {
    SCOPED_TRACE(reference->name());
    const Tensor rows = relative_rows(table_of(*reference), reference->size_option("length"));
    const auto* row = rows.view().as<std::int32_t>();
    EXPECT_EQ(std::vector<std::int32_t>(row, row + rows.elements()),
              reference->int32_output("rows"));
    ++cases;
  }
  EXPECT_EQ(cases, 6u);
}

// ln((M - 1) / m) is 0: no distance beyond m has a bucket.
TEST(DisentangledAttention, ADistanceWithoutABucketIsAnError) {
  const RelativeTableConfig config{8, 6, 6, 4, {}};
  EXPECT_EQ(relative_rows(config, 4).elements(), 7u);
  expect_error(ErrorCode::invalid_argument, {"distance 4"}, [&] { relative_rows(config, 5); });
}

}  // namespace
}  // namespace clearformer::test
