// Chat templates as tokenizer_config.json holds them.

import { ClearformerError } from '../support/error.js';

/** tokenizer_config.json holds one template, or a list of named ones. */
export function templatesOf(held: unknown): string | Record<string, string> | null {
  if (Array.isArray(held)) return Object.fromEntries(held.map(namedTemplate));
  return typeof held === 'string' ? held : null;
}

function namedTemplate(held: unknown): [string, string] {
  const { name, template } = (held ?? {}) as { name?: unknown; template?: unknown };
  if (typeof name === 'string' && typeof template === 'string') return [name, template];
  throw new ClearformerError(
    'malformed_config',
    'tokenizer_config.json: "chat_template" must be a text, or a list of { name, template }',
  );
}
