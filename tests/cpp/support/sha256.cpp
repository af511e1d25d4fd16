#include "support/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace clearformer::test {

namespace {

using Words = std::array<std::uint32_t, 8>;

// The first 32 bits of the fractional part of a root of a small number.
std::uint32_t fraction_of(double root) {
  return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0);
}

bool is_prime(int number) {
  for (int divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return true;
}

// Section 4.2.2 and 5.3.3: of the cube roots of the first 64 primes and the square roots of the first 8.
struct Constants {
  std::array<std::uint32_t, 64> round;
  Words initial;
  Constants() {
    std::size_t count = 0;
    for (int number = 2; count < round.size(); ++number) {
      if (!is_prime(number)) continue;
      if (count < initial.size())
        initial[count] = fraction_of(std::sqrt(static_cast<double>(number)));
      round[count++] = fraction_of(std::cbrt(static_cast<double>(number)));
    }
  }
};

// Section 6.2.2.
void add_block(Words& hash, const unsigned char* block, const Constants& constants) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t) {
    w[t] = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) w[t] = w[t] << 8 | block[4 * t + byte];
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t a = w[t - 15], b = w[t - 2];
    w[t] = w[t - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[t - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = hash;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + constants.round[t] + w[t];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const Words added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < hash.size(); ++i) hash[i] += added[i];
}

}  // namespace

std::string sha256(const void* bytes, std::size_t count) {
  static const Constants constants;
  constexpr std::size_t kBlock = 64;
  Words hash = constants.initial;
  const auto* data = static_cast<const unsigned char*>(bytes);
  const std::size_t whole = count / kBlock * kBlock;
  for (std::size_t at = 0; at < whole; at += kBlock) add_block(hash, data + at, constants);
  std::string rest(reinterpret_cast<const char*>(data) + whole, count - whole);
  rest += '\x80';
  while (rest.size() % kBlock != kBlock - 8) rest += '\0';
  for (int byte = 7; byte >= 0; --byte) {
    rest += static_cast<char>(std::uint64_t{count} * 8 >> 8 * byte);
  }
  for (std::size_t at = 0; at < rest.size(); at += kBlock) {
    add_block(hash, reinterpret_cast<const unsigned char*>(rest.data()) + at, constants);
  }
  std::string text;
  for (const std::uint32_t word : hash) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  }
  return text;
}

}  // namespace clearformer::test
