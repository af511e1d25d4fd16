#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "clearformer/tensor/error.h"
#include "clearformer/tensor/thread_pool.h"
#include "tools/commands.h"

namespace clearformer::tools {

namespace {

constexpr int kProblem = 1, kUsage = 2;

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      std::string& folder) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("DIR", folder, "folder of a checkpoint as the Hugging Face Hub has it")
      ->required();
  return command;
}

void add_json(CLI::App& command, Format& format) {
  command.add_flag_callback("--json", [&format] { format = Format::json; }, "print JSON");
}

void add_threads(CLI::App& command) {
  command
      .add_option_function<std::size_t>("--threads", set_num_threads,
                                        "threads that compute; the numbers stay the same")
      ->check(CLI::Range(std::size_t{1}, kMaxThreads))
      ->default_str("1");
}

void add_dtype(CLI::App& command, MatrixFormat& dtype) {
  const auto read = [&dtype](const std::string& name) {
    const auto format = matrix_format_named(name);
    if (!format) throw CLI::ValidationError("--dtype", name + " is none of fp32, fp16, q8, q4");
    dtype = *format;
  };
  command.add_option_function<std::string>(
      "--dtype", read, "what the weights are kept in: fp32 (default), fp16, q8, q4");
}

// --num-beams 4 and --num-beams=4 become {"num_beams", "4"}; an option without a value is true.
std::vector<std::pair<std::string, std::string>> named_options(
    const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> named;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) throw CLI::ExtrasError({words[i]});
    const std::size_t equals = words[i].find('=');
    std::string name = words[i].substr(2, equals == std::string::npos ? equals : equals - 2);
    std::replace(name.begin(), name.end(), '-', '_');
    std::string value = "true";
    if (equals != std::string::npos) {
      value = words[i].substr(equals + 1);
    } else if (i + 1 < words.size() && !words[i + 1].starts_with("--")) {
      value = words[++i];
    }
    named.emplace_back(std::move(name), std::move(value));
  }
  return named;
}

void expect_folder(const std::string& folder, const char* hint = "") {
  if (std::filesystem::is_directory(folder)) return;
  fail(ErrorCode::invalid_argument, folder, " is no folder", hint);
}

// The five commands with the options each fills.
struct Commands {
  explicit Commands(CLI::App& app) {
    inspect_command =
        add_command(app, "inspect", "what a checkpoint is, without reading its weights",
                    inspect_options.folder);
    add_json(*inspect_command, inspect_options.format);
    validate_command = add_command(app, "validate", "everything that is wrong with a checkpoint",
                                   validated_folder);
    add_generate(app);
    add_embed(app);
    add_classify(app);
    for (CLI::App* command : {generate_command, embed_command, classify_command}) {
      add_threads(*command);
    }
  }

  void add_generate(CLI::App& app) {
    generate_command =
        add_command(app, "generate", "write on, or translate", generate_options.folder);
    auto* prompt = generate_command->add_option("--prompt", generate_options.prompt,
                                                "text to go on from; the source of a translation");
    generate_command->add_option("--input-ids", generate_options.input_ids, "token ids instead")
        ->delimiter(',')
        ->excludes(prompt);
    generate_command->add_option("--options", generate_options.options,
                                 "options of generate() as JSON");
    generate_command->add_flag_callback(
        "--skip-prompt", [this] { generate_options.show = GenerateOptions::Show::continuation; },
        "print only what is new");
    add_json(*generate_command, generate_options.format);
    add_dtype(*generate_command, generate_options.dtype);
    generate_command->allow_extras()->footer(
        "Behind DIR every option of Hugging Face's generate() by its name: --max-new-tokens 40 "
        "--do-sample\n"
        "--temperature 0.8 --top-k 40 --num-beams 4 --eos-token-id '[1, 2]' …");
  }

  void add_embed(CLI::App& app) {
    embed_command = add_command(app, "embed", "sentence embeddings as JSON", embed_options.folder);
    embed_command->add_option("--text", embed_options.texts, "a text; can be given several times")
        ->required()
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    embed_command->add_flag_callback(
        "--similarity", [this] { embed_options.similarity = EmbedOptions::Similarity::cosine; },
        "print the cosines between the texts, too");
    add_dtype(*embed_command, embed_options.dtype);
  }

  void add_classify(CLI::App& app) {
    classify_command =
        add_command(app, "classify", "the most probable labels", classify_options.folder);
    CLI::Option_group* input = classify_command->add_option_group("input");
    input->add_option("--text", classify_options.text, "a text");
    input->add_option("--image", classify_options.image,
                      "an image: .pgm, .ppm, or raw bytes with the size below");
    input->require_option(1);
    classify_command->add_option("--width", classify_options.width, "pixels of a raw image");
    classify_command->add_option("--height", classify_options.height, "pixels of a raw image");
    classify_command->add_option("--channels", classify_options.channels, "1 grey, 3 colour");
    classify_command->add_option("--top-k", classify_options.top_k, "how many labels");
    add_json(*classify_command, classify_options.format);
    add_dtype(*classify_command, classify_options.dtype);
  }

  int run() {
    if (generate_command->parsed()) {
      generate_options.named = named_options(generate_command->remaining());
      expect_folder(generate_options.folder, "; DIR comes before the options of generate()");
      return generate(generate_options, std::cout);
    }
    for (const auto& [command, folder] : {std::pair(inspect_command, &inspect_options.folder),
                                          std::pair(validate_command, &validated_folder),
                                          std::pair(embed_command, &embed_options.folder),
                                          std::pair(classify_command, &classify_options.folder)}) {
      if (command->parsed()) expect_folder(*folder);
    }
    if (inspect_command->parsed()) return inspect(inspect_options, std::cout);
    if (validate_command->parsed()) return validate(validated_folder, std::cout);
    if (embed_command->parsed()) return embed(embed_options, std::cout);
    return classify(classify_options, std::cout);
  }

  InspectOptions inspect_options;
  std::string validated_folder;
  GenerateOptions generate_options;
  EmbedOptions embed_options;
  ClassifyOptions classify_options;
  CLI::App* inspect_command;
  CLI::App* validate_command;
  CLI::App* generate_command;
  CLI::App* embed_command;
  CLI::App* classify_command;
};

}  // namespace

int run(int argc, char** argv) {
  CLI::App app("Transformers one can see through: Hugging Face checkpoints from the command line");
  app.set_version_flag("--version", CLEARFORMER_VERSION);
  app.require_subcommand(1);
  Commands commands(app);
  try {
    app.parse(argc, argv);
    return commands.run();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  } catch (const Error& error) {
    std::cerr << "clearformer: " << clearformer::to_string(error.code()) << ": " << error.what()
              << "\n";
  } catch (const std::exception& error) {
    std::cerr << "clearformer: " << error.what() << "\n";
  }
  return kProblem;
}

}  // namespace clearformer::tools
