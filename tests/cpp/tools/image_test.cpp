// Images against Pillow and transformers: resizing bit by bit, and what whole image processors make of them.
#include <gtest/gtest.h>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/json_text.h"
#include "tools/image_processor.h"

namespace clearformer::test {
namespace {

using tools::Image;

// (H, W, C), whole numbers from 0 to 255
Image image_of(const Tensor& values) {
  Image image{values.dim(1), values.dim(0), values.dim(2), {}};
  for (std::size_t i = 0; i < values.elements(); ++i) {
    image.pixels.push_back(static_cast<std::uint8_t>(values.f32()[i]));
  }
  return image;
}

TEST(ImageResize, ResizedImagesEqualPillowsBitByBit) {
  const Fixture fixture("images");
  const auto cases = fixture.of_op("resize");
  ASSERT_GT(cases.size(), 100u);
  for (const Case* reference : cases) {
    const Image expected = image_of(reference->output("resized"));
    const auto resample = static_cast<tools::Resample>(*reference->option("resample").integer());
    const Image made = resized(image_of(reference->input("image_0")),
                               *reference->option("width").unsigned_integer(),
                               *reference->option("height").unsigned_integer(), resample);
    EXPECT_EQ(made.pixels, expected.pixels) << reference->name();
  }
}

TEST(ImageResize, ConvertedImagesEqualPillows) {
  const Fixture fixture("images");
  std::size_t compared = 0;
  for (const Case* reference : fixture.of_op("convert")) {
    const Image given = image_of(reference->input("image_0"));
    if (given.channels % 2 == 0) continue;  // alpha, which files read here do not have
    const Image made = with_channels(given, *reference->option("channels").unsigned_integer());
    EXPECT_EQ(made.pixels, image_of(reference->output("converted")).pixels) << reference->name();
    ++compared;
  }
  EXPECT_EQ(compared, 4u);
}

TEST(ImageProcessor, PixelValuesEqualTheReference) {
  const Fixture fixture("images");
  std::size_t compared = 0;
  for (const Case* reference : fixture.of_op("image_processor")) {
    const std::string name = reference->name();
    SCOPED_TRACE(name);
    const bool refused = name.starts_with("both_edges") || name.starts_with("within");
    if (refused || name.starts_with("float_")) continue;  // sizes and pixels this does not take
    const tools::ImageProcessor processor(json_text(reference->option("config")),
                                          reference->option("model_type").string());
    const Tensor& expected = reference->output("pixel_values");  // (B, C, H, W)
    const std::size_t size = expected.elements() / expected.dim(0);
    for (std::size_t i = 0; i < expected.dim(0); ++i) {
      const Image given = image_of(reference->input(concat("image_", i)));
      if (given.channels % 2 == 0) continue;
      const Tensor made = processor.pixel_values(given, expected.dim(1));
      const float* first = expected.f32() + i * size;
      ASSERT_EQ(made.elements(), size);
      expect_same_bits("pixel_values", std::vector<float>(made.f32(), made.f32() + size),
                       std::vector<float>(first, first + size));
      ++compared;
    }
  }
  EXPECT_GT(compared, 25u);
}

TEST(ImageProcessor, WhatItLacksIsRefusedByName) {
  const auto refused = [](const char* config, const std::vector<std::string>& parts) {
    SCOPED_TRACE(config);
    expect_error(ErrorCode::unsupported, parts, [&] { tools::ImageProcessor(config, "vit"); });
  };
  refused(R"({"image_processor_type": "BeitImageProcessor"})", {"BeitImageProcessor"});
  refused(R"({"do_pad": true})", {"\"do_pad\""});
  refused(R"({"size": {"longest_edge": 5}})", {"longest_edge"});
  expect_error(ErrorCode::malformed_config, {"\"resample\""},
               [] { tools::ImageProcessor(R"({"resample": 9})", "vit"); });
}

}  // namespace
}  // namespace clearformer::test
