// Bindings: audio.

#include <memory>
#include <utility>

#include "bindings/functions.h"
#include "bindings/pace.h"
#include "clearformer/layers/log_mel_spectrogram.h"

namespace clearformer::bindings {

using emscripten::val;

namespace {

struct OpenSpectrogram {
  OpenSpectrogram(Tensor given, const LogMelConfig& config)
      : samples(std::move(given)), spectrogram(samples, config) {}
  Tensor samples;
  LogMelSpectrogram spectrogram;
};

LogMelConfig config_in(const Arguments& arguments) {
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

}  // namespace

val log_mel_spectrogram(const Arguments& arguments) {
  static OpenSpectrogram* under_way = nullptr;
  const Pace pace(arguments);
  // Taken out: an error ends it.
  std::unique_ptr<OpenSpectrogram> open(std::exchange(under_way, nullptr));
  if (arguments.flag("abandon")) return val::object();
  if (!open) {
    open = std::make_unique<OpenSpectrogram>(arguments.floats("samples"), config_in(arguments));
  }
  while (open->spectrogram.step()) {
    if (!pace.over()) continue;
    under_way = open.release();
    return Pace::pending();
  }
  return to_value(open->spectrogram.result());
}

}  // namespace clearformer::bindings
