// Bindings: audio.

#include "bindings/functions.h"
#include "clearformer/layers/log_mel_spectrogram.h"

namespace clearformer::bindings {

using emscripten::val;

val log_mel_spectrogram(const Arguments& arguments) {
  const auto size = [&](const char* key) { return static_cast<std::size_t>(arguments.count(key)); };
  LogMelConfig config;
  config.feature_size = size("feature_size");
  config.sampling_rate = size("sampling_rate");
  config.hop_length = size("hop_length");
  config.n_fft = size("n_fft");
  config.num_samples.reset();
  if (arguments.has("num_samples")) config.num_samples = size("num_samples");
  config.padding_value = static_cast<float>(arguments.number("padding_value"));
  return to_value(clearformer::log_mel_spectrogram(arguments.floats("samples"), config));
}

}  // namespace clearformer::bindings
