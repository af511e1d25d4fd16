// What to load instead of a model of an unsupported kind, or of a folder that is none. Loaded when one is refused.

import { ClearformerError, isMissing, textOf } from '../support/error.js';
import { throwIfAborted } from '../support/options.js';
import { readOptional } from './files.js';
import type { Folder } from './folder.js';

const experts = 'mixtures of experts of another kind';
const recurrent = 'recurrent or convolutional states';
const images = 'images as input of a language model';
const sound = 'convolutions over samples of sound';
const convolutions = 'convolutions or windows over images';
const variant = 'parts that differ from those of its relatives';
const half = 'an architecture of one tower alone';

/** Model types of the Hub by what they need and no architecture here has, each with the nearest supported type. */
const refused: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [experts]: {
    llama:
      'llama4 llama4_text afmoe deepseek deepseek_v2 deepseek_v3 dbrx glm_moe_dsa gpt_oss jetmoe solar_open minimax',
    mixtral: 'phimoe',
    qwen3_moe: 'qwen2_moe',
    qwen3_5_text: 'qwen3_next qwen3_5_moe qwen3_5_moe_text',
    olmoe: 'flex_olmo',
    granitemoe: 'granitemoeshared',
    lfm2: 'lfm2_moe',
    t5: 'switch_transformers',
  },
  [recurrent]: {
    llama: 'mamba mamba2 falcon_mamba falcon_h1 nemotron_h jamba zamba2 rwkv bamba recurrent_gemma',
    olmo3: 'olmo_hybrid',
  },
  [images]: {
    qwen2: 'qwen2_vl qwen2_5_vl llava_qwen2 llava_onevision moondream1',
    qwen3: 'qwen3_vl qwen3_vl_moe',
    llama: 'llava llava_next idefics2 idefics3 smolvlm mllama',
    lfm2: 'lfm2_vl',
    gemma3_text: 'gemma3n gemma3n_text gemma4 gemma4_text paligemma',
    mistral: 'mistral3 pixtral',
    phi3: 'phi3_v phi4_multimodal',
    clip: 'blip blip-2 git florence2 clipseg owlvit owlv2 grounding-dino chinese_clip',
    vit: 'vision-encoder-decoder trocr donut-swin',
  },
  [sound]: {
    whisper: 'moonshine speecht5 vits clap encodec mimi musicgen bark',
    wav2vec2: 'wav2vec2-bert wav2vec2-conformer wavlm unispeech unispeech-sat',
  },
  [convolutions]: {
    vit: 'beit data2vec-vision convnext convnextv2 resnet swin swinv2 mobilevit mobilevitv2 mobilenet_v1 mobilenet_v2 efficientnet fastvit pvt hiera segformer detr rt_detr yolos dpt glpn sam sam2 maskformer',
    dinov2: 'dinov3_convnext depth_anything',
    clip: 'jina_clip',
  },
  [half]: {
    siglip: 'siglip_vision_model siglip_text_model',
    clip: 'clip_vision_model clip_text_model',
  },
  [variant]: {
    dinov2: 'vit_mae vit_msn ijepa',
    siglip: 'siglip2 siglip2_vision_model',
    bert: 'mobilebert squeezebert convbert roformer ernie megatron-bert nezha splade layoutlm',
    'xlm-roberta': 'xlm xlm-roberta-xl new gte',
    roberta: 'roberta-prelayernorm longformer big_bird luke',
    'deberta-v2': 'deberta',
    modernbert: 'neobert modern_bert',
    t5: 'umt5 longt5 pix2struct',
    bart: 'led plbart prophetnet bigbird_pegasus fsmt',
    gpt2: 'jais xlnet ctrl',
    qwen2: 'qwen',
    llama: 'chatglm baichuan internlm2 minicpm exaone apertus openelm mobilellm seed_oss',
    mistral: 'ministral ministral3 mistral4',
  },
};

/** What a model type needs and its nearest supported relative, in words; undefined for one that is not known. */
function nearestTo(type: string): string | undefined {
  for (const [needs, relatives] of Object.entries(refused)) {
    for (const [near, types] of Object.entries(relatives)) {
      if (types.split(' ').includes(type)) return `it needs ${needs}; the nearest supported model_type is "${near}"`;
    }
  }
  return undefined;
}

const unknownType = /"model_type" is "([^"]*)"(?=; supported)/;
const noType = /"model_type" is missing/;

/** The core's message on config.json with what is known of its model type, or of a file without one; others as they are. */
export function withKnown(message: string, config: string | undefined): string {
  return message
    .replace(unknownType, (start, type: string) => {
      const near = nearestTo(type);
      return near === undefined ? start : `${start}: ${near}`;
    })
    .replace(noType, (start) => {
      const known = config === undefined ? undefined : writerOf(JSON.parse(config));
      return known === undefined ? start : `${start}: ${known}`;
    });
}

/** The other library that has written a config.json without model_type, by a key that only it writes. */
function writerOf(config: Readonly<Record<string, unknown>>): string | undefined {
  const key = Object.keys(writers).find((key) => config[key] !== undefined);
  return key && `this is ${writers[key]}'s and not supported; load a checkpoint of transformers`;
}

const writers: Readonly<Record<string, string>> = {
  pretrained_cfg: 'timm',
  registered_name: 'KerasHub',
  add_source_bos: 'CTranslate2',
  suppress_ids: 'CTranslate2', // of Whisper
};

/** Files of folders that are no model of transformers, and what they are; `%` is the model of an adapter. */
const strangers: Readonly<Record<string, string>> = {
  'gliner_config.json':
    "is GLiNER's, which is not supported (a recurrent layer over words, and scores of spans): load a checkpoint for token-classification, or for classes of your own a DeBERTa for zero-shot-classification",
  'adapter_config.json': 'is of an adapter: load %, and then this with model.load_adapter(source)',
  'model_index.json': "is diffusers' and not supported",
  'open_clip_config.json': "is OpenCLIP's and not supported: load a CLIP or SigLIP of transformers",
  'params.json': "is of the authors' own format: load the checkpoint of transformers",
};

/** What a folder without config.json is, or where its config.json is, if that is known. */
export async function refusedFolder(folder: Folder, signal?: AbortSignal): Promise<ClearformerError | undefined> {
  const { where } = folder;
  for (const [file, what] of Object.entries(strangers)) {
    const found = await readOptional(folder, file, { signal });
    if (found === undefined) continue;
    const { base_model_name_or_path: base } = JSON.parse(found.text);
    const message = `${file} in ${where} ${what.replace('%', () => textOf(base || 'its base model').slice(0, 200))}`;
    return new ClearformerError('unsupported', message, { file, where });
  }
  const within = await foldersWithin(folder, signal);
  if (within.length === 0) return undefined;
  const message = `config.json is not in ${where}, but in its folder ${within.join(', ')}: load that one`;
  return new ClearformerError('file_not_found', message, { file: 'config.json', where });
}

/** The first folders in it that have a config.json, also in those of huggingface_hub's cache of a model. */
async function foldersWithin(folder: Folder, signal?: AbortSignal): Promise<string[]> {
  const most = 20; // each may be a request
  const sentenceTransformers = '0_Transformer'; // until its version 2, for what cannot be listed
  const listed = (await folder.list?.()) ?? [];
  const within = listed.filter((name) => name.endsWith('/config.json')).map((name) => name.slice(0, -12));
  const snapshots = listed.includes('snapshots') ? ((await folder.list?.('snapshots')) ?? []) : [];
  const names = [...listed, ...snapshots].filter((name) => !/\.\w+$/.test(name));
  const looked = [...new Set([sentenceTransformers, ...within, ...names])];
  const found = await Promise.all(
    looked.slice(0, most).map(async (name) => {
      const file = await folder.find(`${name}/config.json`, signal);
      return file === undefined || file.html ? [] : [name];
    }),
  );
  return found.flat().slice(0, 3);
}

/** The error of reading config.json, or a better one; `config`: its text, if there is one. */
export async function explained(
  error: unknown,
  folder: Folder,
  signal?: AbortSignal,
  config?: string,
): Promise<unknown> {
  if (!(error instanceof ClearformerError)) return error;
  const { code, message, details, cause } = error;
  if (isMissing(error) && details.file === 'config.json') {
    const better = await refusedFolder(folder, signal).catch(() => undefined);
    throwIfAborted(signal);
    return better ?? error;
  }
  const known = withKnown(message, config);
  return known === message ? error : new ClearformerError(code, known, details, cause);
}
