// clearformer_fuzz_seeds <folder>: writes the seeds of each target to <folder>/<target>/seeds and the words for its
// mutations to <folder>/<target>/dictionary, in libFuzzer's format.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "clearformer/tensor/error.h"
#include "targets.h"

namespace clearformer::fuzz {

namespace {

// Escapes quotation marks, backslashes and unprintable characters as \xAB.
std::string escaped(const std::string& word) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e || c == '"' || c == '\\') {
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      text += c;
    }
  }
  return text;
}

void write_inputs(const Target& target, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "seeds");
  std::size_t number = 0;
  for (const std::string& seed : target.seeds()) {
    std::ofstream(folder / "seeds" / std::to_string(number++), std::ios::binary) << seed;
  }
  std::ofstream words(folder / "dictionary");
  for (const std::string& word : dictionary(target)) words << '"' << escaped(word) << "\"\n";
}

}  // namespace
}  // namespace clearformer::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: clearformer_fuzz_seeds <folder>\n", stderr);
    return 2;
  }
  for (const clearformer::fuzz::Target& target : clearformer::fuzz::kTargets) {
    clearformer::fuzz::write_inputs(target, std::filesystem::path(argv[1]) / target.name);
  }
  return 0;
}
