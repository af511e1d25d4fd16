// inspect_folder FOLDER: what the checkpoint in a Hugging Face folder is, and the places in its forward pass that can be
// read.
#include <iostream>

#include "clearformer/clearformer.h"

namespace {

void inspect(const char* folder) {
  const auto model = clearformer::from_pretrained(folder);
  const clearformer::ModelConfig& config = model->config();
  std::cout << "model_type: " << config.model_type << "\n"
            << "task: " << clearformer::to_string(config.task) << "\n"
            << "layers: " << config.n_layers() << "\n"
            << "weights: " << model->weight_bytes() << " bytes of memory\n";
  for (const std::string& name : model->unexpected_tensors()) {
    std::cout << "unused tensor: " << name << "\n";
  }
  for (const clearformer::HookPoint& hook : model->hooks()) {
    std::cout << "hook: " << hook.name << " [" << hook.legend << "]\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: inspect_folder FOLDER\n";
    return 2;
  }
  try {
    inspect(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "inspect_folder: " << error.what() << "\n";
    return 1;
  }
  return std::cout.flush() ? 0 : 1;
}
