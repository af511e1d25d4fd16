// Seeded mutations of right files: whatever is broken, the answer is a typed Error or a checkpoint whose
// every number can be read. Never a crash; run this with the sanitizers too.
#include "support/mutation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/safetensors_file.h"

namespace clearformer::test {
namespace {

const std::string kHeader =
    R"({"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
"b": {"dtype": "F16", "shape": [5], "data_offsets": [24, 34]}, "c": {"dtype": "BF16", "shape": [1, 2, 2],
"data_offsets": [34, 42]}, "d": {"dtype": "I64", "shape": [0], "data_offsets": [42, 42]}})";

// Reads the file and every byte of its tensors.
bool reads(std::string_view file, std::size_t chunk) {
  try {
    const Weights weights = read_safetensors(file, chunk);
    for (const std::string& name : weights.names()) weights.shape(name)->elements();
    return true;
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()), "");
    return false;
  }
}

TEST(MutatedSafetensors, GiveATypedErrorOrACheckpoint) {
  Random random(1);
  const std::string data(42, '\x3c');
  ASSERT_TRUE(reads(safetensors(kHeader, data), 7));
  std::size_t read = 0;
  for (int round = 0; round < 6000; ++round) {
    const std::string header = mutated(kHeader, random);
    read += reads(safetensors(header, data), 1 + random.below(100)) ? 1 : 0;
  }
  EXPECT_GT(read, 0u) << "no mutation was harmless: does the test still read anything?";
  EXPECT_LT(read, 3000u) << "most mutations were accepted";
}

TEST(MutatedSafetensors, BytesOfTheWholeFileToo) {
  Random random(2);
  const std::string file = safetensors(kHeader, std::string(42, '\x3c'));
  for (int round = 0; round < 4000; ++round) reads(mutated(file, random), 1 + random.below(50));
}

TEST(MutatedShardIndex, GivesATypedErrorOrAnIndex) {
  Random random(3);
  const std::string index =
      R"({"metadata": {"total_size": 12}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})";
  for (int round = 0; round < 4000; ++round) {
    try {
      for (const std::string& file : ShardIndex::parse(mutated(index, random), "index").files) {
        EXPECT_EQ(file.find_first_of("/\\"), std::string::npos);
        EXPECT_NE(file, "");
      }
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace clearformer::test
