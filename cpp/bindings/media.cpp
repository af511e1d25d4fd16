// Bindings: audio.

#include <memory>
#include <optional>
#include <utility>

#include "bindings/functions.h"
#include "bindings/pace.h"
#include "clearformer/layers/log_mel_fbank.h"
#include "clearformer/layers/log_mel_spectrogram.h"

namespace clearformer::bindings {

using emscripten::val;

namespace {

/// An extraction of features, of one of the kinds.
struct Extraction {
  explicit Extraction(Tensor given) : samples(std::move(given)) {}
  bool step() { return spectrogram ? spectrogram->step() : fbank->step(); }
  Tensor result() { return spectrogram ? spectrogram->result() : fbank->result(); }

  Tensor samples;
  std::optional<LogMelSpectrogram> spectrogram;
  std::optional<LogMelFbank> fbank;
};

// No other call is made meanwhile.
Extraction* under_way = nullptr;

std::unique_ptr<Extraction> under_way_or_new(const Arguments& arguments) {
  // Taken out: an error ends it.
  std::unique_ptr<Extraction> open(std::exchange(under_way, nullptr));
  return open ? std::move(open) : std::make_unique<Extraction>(arguments.floats("samples"));
}

val extract(const Arguments& arguments, std::unique_ptr<Extraction> open) {
  const Pace pace(arguments);
  if (arguments.flag("abandon")) return val::object();
  while (open->step()) {
    if (!pace.over()) continue;
    under_way = open.release();
    return Pace::pending();
  }
  return to_value(open->result());
}

LogMelConfig spectrogram_in(const Arguments& arguments) {
  const auto size = [&](const char* key) { return arguments.count(key); };
  LogMelConfig config;
  config.feature_size = size("feature_size");
  config.sampling_rate = size("sampling_rate");
  config.hop_length = size("hop_length");
  config.n_fft = size("n_fft");
  config.num_samples.reset();
  if (arguments.has("num_samples")) config.num_samples = size("num_samples");
  config.padding_value = static_cast<float>(arguments.number("padding_value"));
  return config;
}

LogMelFbankConfig fbank_in(const Arguments& arguments) {
  LogMelFbankConfig config;
  config.num_mel_bins = arguments.count("num_mel_bins");
  config.sampling_rate = arguments.count("sampling_rate");
  config.max_length = arguments.count("max_length");
  config.do_normalize = arguments.flag("do_normalize");
  config.mean = static_cast<float>(arguments.number("mean"));
  config.standard_deviation = static_cast<float>(arguments.number("std"));
  return config;
}

}  // namespace

val log_mel_spectrogram(const Arguments& arguments) {
  auto open = under_way_or_new(arguments);
  if (!open->spectrogram) open->spectrogram.emplace(open->samples, spectrogram_in(arguments));
  return extract(arguments, std::move(open));
}

val log_mel_fbank(const Arguments& arguments) {
  auto open = under_way_or_new(arguments);
  if (!open->fbank) open->fbank.emplace(open->samples, fbank_in(arguments));
  return extract(arguments, std::move(open));
}

}  // namespace clearformer::bindings
