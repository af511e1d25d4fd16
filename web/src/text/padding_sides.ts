// The side that transformers' tokenizer classes pad, where no file names one.

import { textOf } from '../support/error.js';
import type { TokenizerConfig } from './special_tokens.js';

export type Side = 'left' | 'right';

/** The classes that pad on the left. */
const leftClass = /^(Llama|CodeLlama|Gemma|Cohere|Siglip2|XLNet)Tokenizer(Fast)?$/;

/** The kinds of model that have one of them where no class is named. */
const leftModels =
  `aya_vision cohere cohere2 diffusion_gemma gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text idefics
idefics2 recurrent_gemma shieldgemma2 siglip2 t5gemma xlnet`.split(/\s/);

/** The kinds of model whose tokenizer is of a general class, whatever class its files name. */
const generalModels =
  `arctic chameleon chatlm cohere_asr deepseek_ocr deepseek_ocr2 deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4
deepseek_vl deepseek_vl_hybrid deepseek_vl_v2 fuyu glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe glm_image glmasr got_ocr2 granite
granitemoe granitemoehybrid granitemoeshared h2ovl_chat hyperclovax_vlm internlm2 jamba janus llava llava_next minicpmv minicpmv4_6
minimax_m2 ministral ministral3 mistral mistral3 mixtral modernbert molmo molmo2 nemotron nvfp4 olmo3 olmo_hybrid opencua openvla phi3
phi3_v phimoe pixtral qwen2 step3_vl step3p5 vipllava voxtral voxtral_realtime`.split(/\s/);

/** The side that the tokenizer of a class, or where none is named of a kind of model, pads. */
export function usualPaddingSide({ tokenizer_class, model_type }: TokenizerConfig): Side {
  const name = textOf(tokenizer_class);
  const isLeft = leftModels.includes(name) || (leftClass.test(name) && !generalModels.includes(textOf(model_type)));
  return isLeft ? 'left' : 'right';
}
