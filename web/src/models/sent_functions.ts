// Hook functions on their way to the model's worker: their source or their module, and copies of their constants.

import { hookFunctionsUrl } from '../runtime/hook_assets.js';
import type { SentFunction } from '../runtime/observation_request.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { baseUrl } from '../support/platform.js';
import { Tensor } from '../tensor/tensor.js';
import type { HookConstants, HookFunction, HookModule } from './hook_functions.js';

/**
 * A function for the worker. Rejects with `invalid_argument` for a function without source, an invalid URL, and
 * constants that cannot be copied.
 */
export async function sent(
  what: string,
  change: HookFunction | HookModule,
  constants: HookConstants,
): Promise<SentFunction> {
  const values = packed(`${what}: constants`, constants);
  const part = (await hookFunctionsUrl())?.href;
  if (typeof change !== 'function') return { part, what, ...located(what, change), constants: values };
  const source = Function.prototype.toString.call(change);
  if (/\{\s*\[native code\]\s*\}\s*$/.test(source)) {
    throw invalid(`${what}: a bound or built-in function has no source to send to the worker: wrap it in a function`);
  }
  return { part, what, source, constants: values };
}

/** The absolute URL of a module, and the name of the export. */
export function located(what: string, given: HookModule) {
  checkOptions(what, given, ['module', 'export']);
  const { module, export: name = 'default' } = given;
  try {
    return { module: new URL(module, baseUrl()).href, export: name };
  } catch (cause) {
    throw new ClearformerError('invalid_argument', `${what}: '${module}' is no URL`, { option: 'fwd_hooks' }, cause);
  }
}

/** A copy without Tensor's methods, which messages cannot contain. `within`: the objects that contain it. */
function packed(path: string, value: unknown, within: readonly unknown[] = []): unknown {
  if (value instanceof Tensor) return { tensor: value.type, data: value.data, dims: value.dims };
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw invalid(`${path} is a ${typeof value}, which cannot be sent to the worker`);
  }
  if (within.includes(value)) throw invalid(`${path} contains itself, and cannot be sent to the worker`);
  const part = (key: string, one: unknown) => packed(path + key, one, [...within, value]);
  if (Array.isArray(value)) return value.map((one, at) => part(`[${at}]`, one));
  if (!isPlain(value)) return value;
  return { plain: Object.fromEntries(Object.entries(value).map(([key, one]) => [key, part(`.${key}`, one)])) };
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

const invalid = (message: string) => new ClearformerError('invalid_argument', message, { option: 'fwd_hooks' });
