// The class that transformers' AutoTokenizer takes for a kind of model, where that decides on padding or tokens.

/** The classes that pad on the left or have tokens of their own, of kinds of model whose files may name none. */
const classes: Readonly<Record<string, string>> = {
  aya_vision: 'Cohere',
  cohere: 'Cohere',
  cohere2: 'Cohere',
  diffusion_gemma: 'Gemma',
  falcon_mamba: 'GPTNeoX',
  gemma: 'Gemma',
  gemma2: 'Gemma',
  gemma3: 'Gemma',
  gemma3_text: 'Gemma',
  gemma3n: 'Gemma',
  gemma3n_text: 'Gemma',
  idefics: 'Llama',
  idefics2: 'Llama',
  mamba: 'GPTNeoX',
  mamba2: 'GPTNeoX',
  mpt: 'GPTNeoX',
  olmo: 'GPTNeoX',
  olmo2: 'GPTNeoX',
  olmoe: 'GPTNeoX',
  recurrent_gemma: 'Gemma',
  rwkv: 'GPTNeoX',
  shieldgemma2: 'Gemma',
  siglip2: 'Siglip2',
  stablelm: 'GPTNeoX',
  t5gemma: 'Gemma',
  xlnet: 'XLNet',
  xlstm: 'GPTNeoX',
};

/** The kinds of model whose tokenizer is of a general class, whatever class its files name. */
const general = new Set(
  `arctic chameleon chatlm cohere_asr deepseek_ocr deepseek_ocr2 deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4
deepseek_vl deepseek_vl_hybrid deepseek_vl_v2 fuyu glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe glm_image glmasr got_ocr2 granite
granitemoe granitemoehybrid granitemoeshared h2ovl_chat hyperclovax_vlm internlm2 jamba janus llava llava_next minicpmv minicpmv4_6
minimax_m2 ministral ministral3 mistral mistral3 mixtral modernbert molmo molmo2 nemotron nvfp4 olmo3 olmo_hybrid opencua openvla phi3
phi3_v phimoe pixtral qwen2 step3_vl step3p5 vipllava voxtral voxtral_realtime`.split(/\s/),
);

/** The class of a tokenizer whose files name one that may pad on the left, or none. */
export function classFor(named: unknown, model_type: unknown): unknown {
  const kind = String(model_type);
  if (named) return general.has(kind) ? 'PreTrainedTokenizerFast' : named;
  return Object.hasOwn(classes, kind) ? `${classes[kind]}Tokenizer` : model_type;
}
