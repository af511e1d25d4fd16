#include "clearformer/layers/mel_powers.h"

#include <algorithm>
#include <numbers>
#include <utility>

#include "clearformer/tensor/portable_math.h"

namespace clearformer {

std::vector<MelWeights> mel_triangles(const std::vector<double>& corners,
                                      const std::vector<double>& frequencies) {
  std::vector<MelWeights> bank(frequencies.size());
  const std::size_t sections = corners.size() - 1;
  std::size_t filter = 0;
  for (std::size_t k = 0; k < bank.size(); ++k) {
    const double frequency = frequencies[k];
    while (filter < sections && corners[filter + 1] < frequency) ++filter;
    // Above and below all triangles: weight 0.
    if (filter == sections) break;
    if (frequency < corners[0]) continue;
    const double left = corners[filter], height = (frequency - left) / (corners[filter + 1] - left);
    bank[k] = {filter, 1.0 - height, height};
  }
  return bank;
}

MelPowers::MelPowers(std::vector<MelWeights> bank, const Sizes& sizes, bool periodic)
    : bank_(std::move(bank)),
      sizes_(sizes),
      transform_(sizes.n_fft),
      memory_(sizes.frame_length + sizes.n_fft + bank_.size() + sizes.filters + 2) {
  const std::size_t period = periodic ? sizes.frame_length : sizes.frame_length - 1;
  for (std::size_t j = 0; j < sizes.frame_length; ++j) {
    const double angle =
        2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(period);
    memory_[j] = 0.5 - 0.5 * portable_sine_cosine(angle).cosine;
  }
}

const double* MelPowers::compute() {
  const double* window = memory_.data();
  double *samples = frame(), *powers = samples + sizes_.n_fft, *mels = powers + bank_.size();
  for (std::size_t j = 0; j < sizes_.frame_length; ++j) samples[j] *= window[j];
  transform_.power(samples, powers);
  // Filter m is at index m + 1; the first and the last element take weights that belong to no filter.
  std::fill(mels, mels + sizes_.filters + 2, 0.0);
  for (std::size_t k = 0; k < bank_.size(); ++k) {
    mels[bank_[k].filter] += bank_[k].falling * powers[k];
    mels[bank_[k].filter + 1] += bank_[k].rising * powers[k];
  }
  return mels + 1;
}

}  // namespace clearformer
