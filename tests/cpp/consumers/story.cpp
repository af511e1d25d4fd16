// story FOLDER: an example of a user's first program: continues "Once upon a time" and prints the new tokens, and the
// attention of the last position to each key.
#include <clearformer/clearformer.h>

#include <cstdint>
#include <iostream>

// Computed before main().
const clearformer::Tensor kUniform = clearformer::softmax(clearformer::Tensor::zeros({1, 4}));

// Compiles without warnings: every member that is left out has an initializer of its own.
void options_by_name() {
  using namespace clearformer;
  (void)PoolingOptions{.keep = PoolingOptions::Keep::weights};
  (void)AttentionConfig{.d_model = 4};
  (void)AttentionOptions{.softcap = 30.0f};
  (void)StackConfig{.block = {.order = NormOrder::post}, .layers = 2};
  (void)TextEmbeddingConfig{.vocabulary = 8, .d_model = 4};
  (void)RotaryScaling{.factor = 2.0};
  (void)RotaryInputs{.num_heads = 2};
  (void)InspectedFolder{.dtype = "q8"};
  (void)InspectedFolder::File{.bytes = 8};
  (void)AdapterUpdate{.scale = 2.0f};
  (void)Module::Inputs{.masks = {}};
}

int main(int argc, char** argv) {
  using namespace clearformer;
  if (argc != 2 || kUniform.f32()[0] != 0.25f) return 2;
  try {
    const auto model = from_pretrained(argv[1]);
    const std::int32_t prompt[] = {1, 403, 407, 261, 378};
    const ModelInputs inputs{.input_ids = TensorView(prompt, DType::i32, {1, 5})};
    Trace trace;
    trace.capture("blocks.0.attn.hook_pattern");  // (B, H, T, S)
    model->forward(inputs, &trace);
    std::cout << trace.at("blocks.0.attn.hook_pattern").shape()[3] << " keys:";

    Generation story(*model, inputs, {.max_new_tokens = 6});
    while (!story.done()) std::cout << " " << story.next().tokens[0];
    std::cout << std::endl;
  } catch (const Error& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
  return std::cout ? 0 : 1;
}
