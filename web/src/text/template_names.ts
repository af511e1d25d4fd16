// Where chat templates are, and those of tokenizer_config.json.

/** The file of a template of its own, which transformers prefers to tokenizer_config.json's. */
export const templateFile = 'chat_template.jinja';

/** One template, or a list of named ones; checkpoint/file_rules.ts refuses other values. */
export type StoredTemplates =
  | string
  | readonly { readonly name: string; readonly template: string }[]
  | null
  | undefined;

/** The template, those of a list by name, or null if there is none. */
export function templatesOf(stored: StoredTemplates): string | Record<string, string> | null {
  if (typeof stored === 'string') return stored;
  return stored ? Object.fromEntries(stored.map(({ name, template }) => [name, template])) : null;
}
