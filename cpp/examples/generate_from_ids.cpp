// generate_from_ids FOLDER NEW_TOKENS ID…: decodes greedily and prints the ids of the new tokens. Text is the npm
// package's part (`npx clearformer generate`): the C++ library takes and returns token ids.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <iostream>
#include <span>

#include "clearformer/clearformer.h"

namespace {

// Parses the whole word as a non-negative number.
std::int32_t number_in(const char* word) {
  std::int32_t number = 0;
  const char* end = word + std::strlen(word);
  const auto [stop, error] = std::from_chars(word, end, number);
  if (error != std::errc() || stop != end || number < 0) {
    clearformer::fail(clearformer::ErrorCode::invalid_argument, "\"", word,
                      "\" is no whole number from 0 on");
  }
  return number;
}

void write_on(const char* folder, const char* new_tokens, std::span<char*> prompt) {
  const auto model = clearformer::from_pretrained(folder);
  clearformer::Tensor ids({1, prompt.size()}, clearformer::DType::i32);  // (1, T)
  std::transform(prompt.begin(), prompt.end(), ids.mutable_view().as<std::int32_t>(), number_in);

  auto config = clearformer::generation_config_of(model->config());
  config.max_new_tokens = static_cast<std::size_t>(number_in(new_tokens));
  clearformer::ModelInputs inputs;
  inputs.input_ids = ids.view();

  clearformer::Generation generation(*model, inputs, config);
  while (!generation.done()) std::cout << generation.next().tokens[0] << " " << std::flush;
  std::cout << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: generate_from_ids FOLDER NEW_TOKENS ID...\n";
    return 2;
  }
  try {
    write_on(argv[1], argv[2], std::span(argv + 3, static_cast<std::size_t>(argc - 3)));
  } catch (const std::exception& error) {
    std::cerr << "generate_from_ids: " << error.what() << "\n";
    return 1;
  }
  return std::cout ? 0 : 1;
}
