#include "tools/image_processor.h"

#include <algorithm>

namespace clearformer::tools {

// What a type does where its file does not say.
struct ImageProcessor::Defaults {
  std::string_view type, model_type;
  Size size;
  Resample resample;
  std::size_t crop;  // 0: none
  bool square;       // what a size of one number means
  std::vector<double> mean, deviation;
};

namespace {

constexpr std::string_view kOptions[] = {"do_resize",         "size",           "resample",
                                         "default_to_square", "do_center_crop", "crop_size",
                                         "do_rescale",        "rescale_factor", "do_normalize",
                                         "image_mean",        "image_std",      "do_convert_rgb"};
// Written into files by transformers, without a part in the result.
constexpr std::string_view kInert[] = {"image_processor_type",
                                       "feature_extractor_type",
                                       "processor_class",
                                       "auto_map",
                                       "use_fast",
                                       "backend",
                                       "device",
                                       "disable_grouping",
                                       "return_tensors",
                                       "image_seq_length",
                                       "_valid_processor_keys",
                                       "pad_size",
                                       "data_format",
                                       "input_data_format"};

void check_options(const ConfigReader& config) {
  for (const auto& [key, value] : config.root().object()) {
    const auto is_key = [&key](std::string_view known) { return known == key; };
    const bool known = std::any_of(std::begin(kOptions), std::end(kOptions), is_key) ||
                       std::any_of(std::begin(kInert), std::end(kInert), is_key);
    const bool off = value.is_null() || (value.is_bool() && !value.boolean());
    if (!known && !off) config.refuse(ErrorCode::unsupported, key, "is not supported");
  }
}

// The name in its newest spelling.
std::string type_of(const ConfigReader& config) {
  std::string type = config.text("image_processor_type", config.text("feature_extractor_type", ""));
  for (const std::string_view end : {"Fast", "Pil"}) {
    if (type.ends_with(end)) type.resize(type.size() - end.size());
  }
  constexpr std::string_view kOld = "FeatureExtractor";
  if (type.ends_with(kOld)) type.replace(type.size() - kOld.size(), kOld.size(), "ImageProcessor");
  return type;
}

std::vector<double> read_numbers(const ConfigReader& config, std::string_view key,
                                 const std::vector<double>& usual) {
  const Json* value = config.root().find_set(key);
  if (value == nullptr) return usual;
  if (value->is_number()) return {value->number()};
  std::vector<double> numbers = config.numbers(key);
  if (numbers.empty()) config.refuse_value(key, "must be a number or a list of numbers");
  return numbers;
}

std::size_t edge_in(const ConfigReader& config, std::string_view key, const Json* value) {
  const auto number = value == nullptr ? std::nullopt : value->unsigned_integer();
  if (!number || *number == 0 || *number > 0xffff) {
    config.refuse_value(key, "must be an edge, a pair, or hold height and width, or shortest_edge");
  }
  return static_cast<std::size_t>(*number);
}

double at_channel(const std::vector<double>& numbers, std::size_t channel) {
  return numbers.size() == 1 ? numbers[0] : numbers[channel];
}

}  // namespace

const ImageProcessor::Defaults& ImageProcessor::defaults_of(const ConfigReader& config,
                                                            std::string_view model_type) {
  const std::vector<double> half{0.5, 0.5, 0.5};
  static const Defaults kDefaults[] = {
      {"ViTImageProcessor", "vit", {224, 224, 0}, Resample::bilinear, 0, true, half, half},
      {"DeiTImageProcessor", "deit", {256, 256, 0}, Resample::bicubic, 224, true, half, half},
      {"CLIPImageProcessor",
       "clip",
       {0, 0, 224},
       Resample::bicubic,
       224,
       false,
       {0.48145466, 0.4578275, 0.40821073},
       {0.26862954, 0.26130258, 0.27577711}}};
  const std::string type = type_of(config);
  for (const Defaults& entry : kDefaults) {
    if (type.empty() ? entry.model_type == model_type : entry.type == type) return entry;
  }
  config.refuse(ErrorCode::unsupported, "image_processor_type", "is \"", type,
                "\"; supported: ViTImageProcessor, DeiTImageProcessor, CLIPImageProcessor");
}

ImageProcessor::Size ImageProcessor::read_size(const ConfigReader& config, std::string_view key,
                                               bool square, Size usual) {
  const Json* value = config.root().find_set(key);
  if (value == nullptr) return usual;
  if (value->is_array() && value->array().size() == 2) {
    return {edge_in(config, key, &value->array()[0]), edge_in(config, key, &value->array()[1]), 0};
  }
  if (!value->is_object()) {
    const std::size_t edge = edge_in(config, key, value);
    return square ? Size{edge, edge, 0} : Size{0, 0, edge};
  }
  for (const auto& [name, edge] : value->object()) {
    if (name == "height" || name == "width" || name == "shortest_edge" || edge.is_null()) continue;
    config.refuse(ErrorCode::unsupported, key, "has ", name, ", which is not supported");
  }
  const Json* shortest = value->find_set("shortest_edge");
  if (shortest != nullptr) return {0, 0, edge_in(config, key, shortest)};
  return {edge_in(config, key, value->find("height")), edge_in(config, key, value->find("width")),
          0};
}

ImageProcessor::ImageProcessor(std::string_view preprocessor, std::string_view model_type) {
  const ConfigReader config(preprocessor, "preprocessor_config.json");
  check_options(config);
  const Defaults& usual = defaults_of(config, model_type);
  if (config.flag("do_resize", true)) {
    resize_ = read_size(config, "size", config.flag("default_to_square", usual.square), usual.size);
    const std::size_t number = config.count("resample", static_cast<std::size_t>(usual.resample));
    if (number > static_cast<std::size_t>(Resample::hamming)) {
      config.refuse_value("resample", "must be one of Pillow's numbers, 0 to 5");
    }
    resample_ = static_cast<Resample>(number);
  }
  if (config.flag("do_center_crop", usual.crop != 0)) {
    const std::size_t edge = usual.crop;
    if (edge == 0) config.size("crop_size");  // throws: there is none
    crop_ = read_size(config, "crop_size", true, {edge, edge, 0});
    if (crop_->shortest_edge != 0) config.refuse_value("crop_size", "must have height and width");
  }
  if (config.flag("do_rescale", true)) rescale_ = config.number("rescale_factor", 1.0 / 255);
  if (config.flag("do_normalize", true)) {
    mean_ = read_numbers(config, "image_mean", usual.mean);
    deviation_ = read_numbers(config, "image_std", usual.deviation);
    if (std::count(deviation_.begin(), deviation_.end(), 0.0) != 0) {
      config.refuse_value("image_std", "must not be 0");
    }
  }
}

// Resized and cropped.
Image ImageProcessor::framed(const Image& image) const {
  Image out = image;
  if (resize_) {
    std::size_t height = resize_->height, width = resize_->width;
    if (const std::size_t edge = resize_->shortest_edge; edge != 0) {
      const bool upright = image.width < image.height;
      const std::size_t shorter = std::min(image.width, image.height);
      const double ratio = static_cast<double>(edge * std::max(image.width, image.height));
      const auto other = static_cast<std::size_t>(ratio / static_cast<double>(shorter));
      height = upright ? other : edge;
      width = upright ? edge : other;
    }
    out = resized(out, width, height, resample_);
  }
  return crop_ ? center_crop(out, crop_->width, crop_->height) : out;
}

Tensor ImageProcessor::pixel_values(const Image& image, std::size_t channels) const {
  for (const std::vector<double>* numbers : {&mean_, &deviation_}) {
    if (numbers->size() <= 1 || numbers->size() == channels) continue;
    fail(ErrorCode::malformed_config, "preprocessor_config.json: image_mean and image_std have ",
         numbers->size(), " numbers, the model reads ", channels, " channels");
  }
  const Image ready = framed(with_channels(image, channels));
  Tensor values({1, channels, ready.height, ready.width});
  const std::size_t area = ready.height * ready.width;
  for (std::size_t i = 0; i < values.elements(); ++i) {  // rounded to float where numpy does
    const std::size_t channel = i / area;
    auto value = static_cast<float>(ready.pixels[i % area * channels + channel] * rescale_);
    if (!mean_.empty()) {
      value = (value - static_cast<float>(at_channel(mean_, channel))) /
              static_cast<float>(at_channel(deviation_, channel));
    }
    values.f32()[i] = value;
  }
  return values;
}

}  // namespace clearformer::tools
