// The command line as a process, and folders for it to read.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "clearformer/weights/json.h"
#include "support/files.h"

namespace clearformer::test {

struct Result {
  int code = -1;
  std::string out, err;

  Json json() const { return Json::parse(out, "output", ErrorCode::malformed_file); }
};

/// A folder that goes away with this object; a copy of `source` where one is given.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& source = "") {
    std::string name = (std::filesystem::temp_directory_path() / "clearformer-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
    if (!source.empty()) {
      std::filesystem::copy(source, path_, std::filesystem::copy_options::recursive);
    }
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name = "") const {
    return name.empty() ? path_ : path_ + "/" + name;
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }

 private:
  std::string path_;
};

inline std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char character : word) text += character == '\'' ? "'\\''" : std::string(1, character);
  return text + "'";
}

inline Result run(const std::vector<std::string>& words) {
  const TemporaryFolder folder;
  std::string command = quoted(CLEARFORMER_COMMAND);
  for (const std::string& word : words) command += concat(" ", quoted(word));
  command += " 2>" + quoted(folder.path("err"));
  Result result;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  char buffer[1 << 12];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) != 0;) {
    result.out.append(buffer, got);
  }
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.err = read_bytes(folder.path("err"));
  return result;
}

/// A tokenizer.json whose words are w0, w1, … with those ids.
inline std::string numbered_words(std::size_t count) {
  std::string vocab;
  for (std::size_t id = 0; id < count; ++id) {
    vocab += concat(id == 0 ? "" : ", ", "\"w", id, "\": ", id);
  }
  return R"({"pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "WordLevel", "vocab": {)" +
         vocab + R"(}, "unk_token": "w0"}})";
}

/// The text that tokenizer makes these ids of.
inline std::string numbered_text(const std::int32_t* first, const std::int32_t* last) {
  std::string text;
  for (; first != last; ++first) text += concat(text.empty() ? "w" : " w", *first);
  return text;
}

/// Member of a JSON object; throws where it is absent.
inline const Json& at(const Json& object, const std::string& key) {
  const Json* value = object.find(key);
  if (value == nullptr) throw std::runtime_error("no " + key);
  return *value;
}

}  // namespace clearformer::test
