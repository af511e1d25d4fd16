// LoRA adapters of a model, as PEFT writes them and with transformers' names. Loaded at the first call.

import { type ReadOptions, readChunks, readRequired } from '../checkpoint/files.js';
import type { Folder, SourceFile } from '../checkpoint/folder.js';
import { openSource, type Source, type SourceOptions, sourceOptions } from '../checkpoint/source.js';
import { headerStart, sizeFrom } from '../checkpoint/weights_header.js';
import type { Handle } from '../runtime/border.js';
import { type Engine, releaseHandle } from '../runtime/engine.js';
import type { AdapterUpdate } from '../runtime/weight_calls.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { loadPart } from '../support/platform.js';
import { warn } from '../support/warning.js';
import { checkLoraConfig, isTarget, type LoraConfig, rankAndScale } from './adapter_config.js';
import {
  adapterNames,
  modulesOf,
  type NamedWeight,
  namedLike,
  type Shapes,
  takeUnread,
  tensorShapes,
  weightOf,
} from './adapter_files.js';
import type { AdaptableModel, AddAdapterOptions } from './new_adapter.js';
import type { OpenedModel } from './parameters.js';

/** How an adapter is loaded. */
export interface LoadAdapterOptions extends SourceOptions, ReadOptions {
  /** Its name in this model (`default`). */
  adapter_name?: string | undefined;
}

/** Options of `set_adapter`. */
export interface SetAdapterOptions {
  /** A factor of the adapters' scales (1), or one for each adapter. */
  scale?: number | readonly number[] | undefined;
}

/** Options of `merge_and_unload`. */
export interface MergeOptions {
  /** The adapters that are merged, with their own scales (those in force, with those of `set_adapter`). */
  adapter_names?: string | readonly string[] | undefined;
}

/** @internal A model, as far as adapters need it. */
export interface AdaptedModel {
  readonly unexpected_tensors: readonly string[];
  open(): OpenedModel;
}

interface Active {
  adapter: string;
  scale: number;
}

/** The adapters of a model: the files of their configurations, with the weights they adapt, and those that were set. */
interface State {
  configs: Map<string, { text: string; weights: readonly string[] }>;
  set: Active[];
  enabled: boolean;
}

const states = new WeakMap<AdaptedModel, State>();
const weightsFile = 'adapter_model.safetensors';

function stateOf(model: AdaptedModel): State {
  const state = states.get(model) ?? { configs: new Map(), set: [], enabled: true };
  states.set(model, state);
  return state;
}

/** @internal Reads a PEFT folder; gives what puts the adapter, alone, in force and resolves to its name. */
export async function readAdapter(
  model: AdaptedModel,
  source: Source,
  options: LoadAdapterOptions,
): Promise<() => Promise<string>> {
  checkOptions('load_adapter', options, [...sourceOptions, 'adapter_name', 'signal', 'integrity']);
  const { adapter_name, ...reading } = options;
  model.open();
  return readFolder(model, openSource(source, reading), adapter_name, reading);
}

/** @internal The same with a new adapter. */
export async function newAdapter(
  model: AdaptedModel & AdaptableModel,
  config: LoraConfig,
  options: AddAdapterOptions,
): Promise<() => Promise<string>> {
  const { newAdapterFolder } = await loadPart(() => import('./new_adapter.js'));
  return readFolder(model, await newAdapterFolder(model, config, options), options.adapter_name, {});
}

async function readFolder(
  model: AdaptedModel,
  folder: Folder,
  adapter_name = 'default',
  reading: ReadOptions,
): Promise<() => Promise<string>> {
  const { engine } = model.open();
  if (typeof adapter_name !== 'string' || adapter_name === '') {
    throw new ClearformerError('invalid_argument', `adapter_name: must be a text, got ${textOf(adapter_name)}`);
  }
  const { text } = await readRequired(folder, 'adapter_config.json', reading);
  const config: LoraConfig = JSON.parse(text);
  checkLoraConfig(config);
  const file = await findWeights(folder, reading);
  const { checkpoint, header } = await readWeights(engine, file, reading); // which the core has checked now
  return async () => {
    try {
      requireNew(model, adapter_name);
      const weights = await add(model, adapter_name, config, tensorShapes(header), checkpoint);
      stateOf(model).configs.set(adapter_name, { text, weights });
      return adapter_name;
    } finally {
      await releaseHandle(engine, checkpoint);
    }
  };
}

async function add(
  model: AdaptedModel,
  adapter: string,
  config: LoraConfig,
  shapes: Shapes,
  checkpoint: Handle,
): Promise<string[]> {
  const { engine, model: handle } = model.open();
  const { parameters } = await engine.call('parameter_list', { model: handle, with_synonyms: true });
  const modules = modulesOf(shapes);
  const ways = namedLike([...modules.keys()], parameters);
  const unread = takeUnread(modules, ways[0] as NamedWeight[], model.unexpected_tensors);
  let plan: Plan | undefined;
  for (const listed of ways) {
    const one = planFor(listed, config, shapes, modules);
    if (plan === undefined || one.missing === undefined) plan = one;
    if (plan.missing === undefined) break;
  }
  const { updates = [], missing } = plan ?? {};
  if (missing !== undefined) {
    const problem = `adapter: ${missing} is one of target_modules, and ${weightsFile} has no matrices for it`;
    throw new ClearformerError('missing_tensor', problem, { file: weightsFile, tensor: missing });
  }
  await engine.call('adapter_add', { model: handle, adapter, updates, checkpoint });
  try {
    await put(model, [{ adapter, scale: 1 }], true);
  } catch (thrown) {
    await engine.call('adapter_remove', { model: handle, adapter });
    throw thrown;
  }
  if (unread.length > 0) {
    const message = `adapter: this model does not read ${unread[0]}: no effect of its matrices (${unread.length} such)`;
    warn({ code: 'unread_matrices', message });
  }
  return updates.map(({ weight }) => weight);
}

interface Plan {
  updates: AdapterUpdate[];
  /** A weight that is a target, and has no matrices. */
  missing: string | undefined;
}

/** What the matrices are added to, with one of the ways to name the weights. */
function planFor(
  listed: readonly NamedWeight[],
  config: LoraConfig,
  shapes: Shapes,
  modules: ReadonlyMap<string, string>,
): Plan {
  const prefixes = new Set<string>();
  const updates: AdapterUpdate[] = [];
  for (const [module, path] of modules) {
    const { name, stored: weight } = weightOf(module, listed);
    const twice = updates.find((update) => update.weight === weight);
    if (twice !== undefined) throw misfit(`${path} and ${twice.name} are both of ${weight}`);
    if (!isTarget(config, module)) {
      throw misfit(`${path} has matrices, but is none of target_modules: PEFT would ignore them`);
    }
    const { rank, scale } = rankAndScale(config, module);
    const { lora_A } = adapterNames(path);
    const found = shapes.get(lora_A)?.[0];
    if (found !== rank) throw misfit(`${lora_A} has ${found} rows, and adapter_config.json says rank ${rank}`);
    updates.push({ weight, name: path, scale });
    prefixes.add(prefixOf(path, name.replace(/\.weight$/, '')));
  }
  const missing = listed.find(({ name, stored, dims }) => {
    const module = name.replace(/\.weight$/, '');
    const covered = updates.some(({ weight }) => weight === stored);
    const isMissing = (prefix: string) => isListed(config, prefix + module);
    return dims.length === 2 && module !== name && !covered && [...prefixes].every(isMissing);
  });
  return { updates, missing: missing?.name };
}

/** What PEFT's path of a module has in front of the checkpoint's name, such as "transformer.". */
function prefixOf(path: string, module: string): string {
  return path.endsWith(module) ? path.slice(0, -module.length).replace(/^base_model\.model\./, '') : '';
}

/** Only where the configuration names modules: an expression is for whole names, which a file may shorten. */
function isListed(config: LoraConfig, module: string): boolean {
  return Array.isArray(config.target_modules) && isTarget(config, module);
}

/** @internal Those adapters, and no others, are in force. */
export async function setAdapter(
  model: AdaptedModel,
  names: string | readonly string[],
  options: SetAdapterOptions,
): Promise<void> {
  checkOptions('set_adapter', options, ['scale']);
  const list = [names].flat() as string[];
  const { scale = 1 } = options;
  const scales = typeof scale === 'number' ? list.map(() => scale) : scale;
  if (!Array.isArray(scales) || scales.length !== list.length || !scales.every((one) => Number.isFinite(one))) {
    const rule = `needs a number, or one for each of ${list.length} adapters`;
    throw new ClearformerError('invalid_argument', `set_adapter: scale ${rule}, got ${textOf(scale)}`, {
      option: 'scale',
    });
  }
  for (const name of list) requireKnown(model, name);
  const set = list.map((adapter, at) => ({ adapter, scale: scales[at] as number }));
  await put(model, set, true);
}

/** @internal All of those that were set, or none. */
export async function enableAdapters(model: AdaptedModel, enabled: boolean): Promise<void> {
  await put(model, stateOf(model).set, enabled);
}

async function put(model: AdaptedModel, set: Active[], enabled: boolean): Promise<void> {
  const { engine, model: handle } = model.open();
  await engine.call('adapter_use', { model: handle, adapters: enabled ? set : [] });
  Object.assign(stateOf(model), { set, enabled });
}

/** @internal The names of those in force. */
export function activeAdapters(model: AdaptedModel): string[] {
  const { set, enabled } = stateOf(model);
  return enabled ? set.map(({ adapter }) => adapter) : [];
}

/** @internal Releases adapters. */
export async function deleteAdapter(model: AdaptedModel, names: string | readonly string[]): Promise<void> {
  const list = new Set([names].flat() as string[]);
  for (const name of list) requireKnown(model, name);
  const { engine, model: handle } = model.open();
  const state = stateOf(model);
  for (const adapter of list) {
    await engine.call('adapter_remove', { model: handle, adapter });
    state.configs.delete(adapter);
    state.set = state.set.filter((one) => one.adapter !== adapter);
  }
}

/** @internal What adapters add becomes part of the weights, as edits; all adapters are released. Returns the edits in force. */
export async function mergeAndUnload(model: AdaptedModel, options: MergeOptions): Promise<number> {
  const call = 'merge_and_unload';
  checkOptions(call, options, ['adapter_names']);
  const { engine, model: handle } = model.open();
  const { configs, set, enabled } = stateOf(model);
  let edits = 0;
  let count = 0;
  try {
    if (options.adapter_names !== undefined) await setAdapter(model, options.adapter_names, {});
    const names = activeAdapters(model);
    if (names.length === 0) throw new ClearformerError('invalid_argument', `${call}: no adapter is in force`);
    for (const name of new Set(names.flatMap((one) => configs.get(one)?.weights ?? []))) {
      const value = await engine.call('parameter_read', { model: handle, name, with_adapters: true });
      ({ edits } = await engine.call('parameter_edit', { model: handle, name, op: 'replace', value }));
      count++;
    }
    await deleteAdapter(model, [...configs.keys()]);
    return edits;
  } catch (thrown) {
    if (count > 0) await engine.call('parameter_undo', { model: handle, count });
    await put(model, set, enabled);
    throw thrown;
  }
}

async function findWeights(folder: Folder, { signal }: ReadOptions): Promise<SourceFile> {
  const file = await folder.find(weightsFile, signal);
  if (file !== undefined && !file.html) return file;
  const bin = await folder.find('adapter_model.bin', signal);
  const advice = bin && !bin.html ? '; adapter_model.bin is: save the adapter with safe_serialization=True' : '';
  throw new ClearformerError('file_not_found', `${weightsFile} is not in ${folder.where}${advice}`, {
    file: weightsFile,
    where: folder.where,
  });
}

/** Streams a safetensors file into the core; returns its checkpoint, and the start of the file with its header. */
async function readWeights(
  engine: Engine,
  file: SourceFile,
  options: ReadOptions,
): Promise<{ checkpoint: Handle; header: Uint8Array }> {
  const header = await headerStart(file, options.signal);
  const bytes = sizeFrom(file, header);
  const { most_heap_bytes } = await engine.call('build_info', {});
  if (bytes > most_heap_bytes) {
    const sizes = `${weightsFile} has ${bytes} bytes, and the engine's memory ${most_heap_bytes}`;
    throw new ClearformerError('out_of_memory', `adapter: ${sizes}`, { file: weightsFile });
  }
  const { checkpoint } = await engine.call('checkpoint_open', { dtype: 'fp32' });
  try {
    await engine.call('checkpoint_begin_file', { checkpoint, name: weightsFile, bytes });
    for await (const chunk of readChunks(file, options)) await engine.write(checkpoint, chunk, file.borrowed);
    await engine.call('checkpoint_end_file', { checkpoint });
    return { checkpoint, header };
  } catch (thrown) {
    await releaseHandle(engine, checkpoint);
    throw thrown;
  }
}

function requireNew(model: AdaptedModel, name: string): void {
  if (!stateOf(model).configs.has(name)) return;
  throw new ClearformerError('invalid_argument', `adapter_name: '${name}' exists already: delete_adapter('${name}')`);
}

/** @internal The file of the configuration of an adapter that there is. */
export function requireKnown(model: AdaptedModel, name: string): string {
  const { configs } = stateOf(model);
  const known = configs.get(name);
  if (known !== undefined) return known.text;
  const names = [...configs.keys()].join(', ') || 'none';
  throw new ClearformerError('invalid_argument', `there is no adapter ${textOf(name)} (known: ${names})`);
}

function misfit(why: string): ClearformerError {
  return new ClearformerError('shape_mismatch', `adapter: ${why}`, { file: weightsFile });
}
