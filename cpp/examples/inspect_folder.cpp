// inspect_folder FOLDER: describes the checkpoint in a Hugging Face folder, what it needs and what is wrong with it. No
// weight is read.
#include <iostream>

#include "clearformer/clearformer.h"

namespace {

using clearformer::Inspection;

void print(const Inspection& found) {
  std::cout << "model_type: " << found.model_type << "\n";
  if (found.config) {
    std::cout << "kind: " << clearformer::to_string(found.config->kind) << "\n"
              << "task: " << clearformer::to_string(found.config->task) << "\n"
              << "layers: " << found.config->n_layers() << "\n";
  }
  if (found.parameters) std::cout << "parameters: " << *found.parameters << "\n";
  for (std::size_t i = 0; found.memory && i < found.memory->size(); ++i) {
    std::cout << "bytes in " << Inspection::kDTypes[i] << ": " << (*found.memory)[i] << "\n";
  }
  for (const std::string& name : found.unexpected) std::cout << "unused tensor: " << name << "\n";
  for (const clearformer::Problem& problem : found.problems) {
    std::cout << "problem: " << problem.text << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: inspect_folder FOLDER\n";
    return 2;
  }
  const Inspection found = clearformer::inspect(clearformer::InspectedFolder::read(argv[1]));
  print(found);
  return std::cout.flush() && found.problems.empty() ? 0 : 1;
}
