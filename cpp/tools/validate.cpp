// clearformer validate: everything that is wrong with a checkpoint.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>

#include "clearformer/generation/generation_config.h"
#include "clearformer/loading/load_model.h"
#include "clearformer/models/sentence_pooling.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/model_plan.h"
#include "tools/tokenizer/tokenizer.h"

namespace clearformer::tools {

namespace {

using Problems = std::vector<std::string>;

// Keeps what `work` throws, and goes on.
template <class Work>
void collect(Problems& problems, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    for (std::string& problem : problems_in(error)) problems.push_back(std::move(problem));
  }
}

template <class Stored>
Stored stored_at(const char* bytes) {
  Stored value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// How many of the elements are NaN or infinite; dtypes that cannot be so have none.
std::uint64_t count_not_finite(std::string_view dtype, const char* bytes, std::size_t size) {
  std::uint64_t count = 0;
  if (dtype == "F32") {
    for (std::size_t i = 0; i < size; i += 4) count += !std::isfinite(stored_at<float>(bytes + i));
  } else if (dtype == "F64") {
    for (std::size_t i = 0; i < size; i += 8) count += !std::isfinite(stored_at<double>(bytes + i));
  } else if (dtype == "F16" || dtype == "BF16") {
    const std::uint16_t exponent = dtype == "F16" ? 0x7c00 : 0x7f80;  // all ones: NaN or infinite
    for (std::size_t i = 0; i < size; i += 2) {
      count += (stored_at<std::uint16_t>(bytes + i) & exponent) == exponent;
    }
  }
  return count;
}

void check_data(const std::string& folder, const CheckpointHeaders& headers, Problems& problems) {
  constexpr std::uint64_t kChunk = 1 << 20;  // a multiple of every element's size
  std::vector<char> buffer(kChunk);
  for (const CheckpointHeaders::Entry& entry : headers.tensors) {
    const StoredTensor& tensor = entry.tensor;
    std::ifstream file(folder + "/" + entry.file, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(entry.data + tensor.begin));
    std::uint64_t count = 0;
    for (std::uint64_t left = tensor.end - tensor.begin; left > 0 && file;) {
      const std::uint64_t size = std::min(left, kChunk);
      file.read(buffer.data(), static_cast<std::streamsize>(size));
      count += count_not_finite(tensor.dtype, buffer.data(), static_cast<std::size_t>(size));
      left -= size;
    }
    if (!file) {
      problems.push_back(concat(entry.file, ": tensor \"", tensor.name, "\" cannot be read"));
    } else if (count > 0) {
      problems.push_back(concat(entry.file, ": tensor \"", tensor.name, "\" has ", count,
                                " values that are NaN or infinite"));
    }
  }
}

// The sizes of tables that the other files must fit; null where the model cannot be loaded.
std::unique_ptr<Model> load(const std::string& folder, Problems& problems) {
  std::unique_ptr<Model> model;
  collect(problems, [&] { model = from_pretrained(folder); });
  return model;
}

void check_generation_config(const std::string& folder, Problems& problems) {
  const auto text = read_text(folder + "/generation_config.json");
  if (!text) return;
  collect(problems, [&] {
    GenerationConfig config;
    config.update(ConfigReader(*text, "generation_config.json"), GenerationConfig::Unknown::ignore);
  });
}

void check_tokenizer(const std::string& folder, const Model* model, Problems& problems) {
  if (!read_text(folder + "/tokenizer.json")) return;
  collect(problems, [&] {
    const Tokenizer tokenizer = read_tokenizer(folder);
    const std::size_t rows = model == nullptr ? 0 : model->config().d_vocab();
    if (rows == 0 || tokenizer.largest_id() < static_cast<std::int64_t>(rows)) return;
    problems.push_back(concat("tokenizer.json: token ", tokenizer.largest_id(), " (\"",
                              tokenizer.token(static_cast<std::int32_t>(tokenizer.largest_id())),
                              "\") is beyond the model's vocabulary of ", rows));
  });
}

void check_modules(const std::string& folder, Problems& problems) {
  collect(problems, [&] {
    SentencePooling::read([&](const std::string& name) { return read_text(folder + "/" + name); });
  });
}

}  // namespace

int validate(const std::string& folder, std::ostream& out) {
  const CheckpointHeaders headers = CheckpointHeaders::read(folder);
  Problems problems = headers.problems;
  check_data(folder, headers, problems);
  const std::unique_ptr<Model> model = load(folder, problems);
  check_generation_config(folder, problems);
  check_tokenizer(folder, model.get(), problems);
  check_modules(folder, problems);
  std::set<std::string> told;
  for (const std::string& problem : problems) {
    if (told.insert(problem).second) out << problem << "\n";
  }
  if (!problems.empty()) return 1;
  out << "valid: " << model->config().model_type << ", " << headers.tensors.size() << " tensors, "
      << headers.parameters() << " parameters\n";
  return 0;
}

}  // namespace clearformer::tools
