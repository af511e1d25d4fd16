// The folders and token of Python's huggingface_hub, from the same environment variables (Node).

import { environment, isOn, nodeModule } from '../support/platform.js';

/** Expands `~` and `$NAME` like os.path.expanduser and expandvars. */
function expanded(path: string): string {
  const home = nodeModule('node:os').homedir();
  const whole = path === '~' || /^~[\\/]/.test(path) ? home + path.slice(1) : path;
  return whole.replace(/\$(?:(\w+)|\{(\w+)\})/g, (text, name, braced) => environment(name ?? braced) ?? text);
}

function home(): string {
  const { join } = nodeModule('node:path');
  const caches = environment('XDG_CACHE_HOME') ?? join(nodeModule('node:os').homedir(), '.cache');
  return expanded(environment('HF_HOME') ?? join(caches, 'huggingface'));
}

/** The folder of all repositories: `~/.cache/huggingface/hub` unless the environment sets another. */
export function hubCache(): string {
  const { join } = nodeModule('node:path');
  return expanded(environment('HF_HUB_CACHE') ?? environment('HUGGINGFACE_HUB_CACHE') ?? join(home(), 'hub'));
}

/** The folder for downloads from elsewhere than the Hub, outside the folders that Python searches for repositories. */
export function webCache(): string {
  return nodeModule('node:path').join(home(), 'clearformer');
}

/** A caller's folder, with `~` and variables expanded. */
export function givenCache(folder: string): string {
  return nodeModule('node:path').resolve(expanded(folder));
}

/** HF_TOKEN, or the token that `hf auth login` wrote; none if HF_HUB_DISABLE_IMPLICIT_TOKEN is on. */
export async function storedToken(): Promise<string | undefined> {
  if (isOn(environment('HF_HUB_DISABLE_IMPLICIT_TOKEN'))) return undefined;
  const own = environment('HF_TOKEN') ?? environment('HUGGING_FACE_HUB_TOKEN');
  if (own !== undefined) return own.trim() || undefined;
  const path = expanded(environment('HF_TOKEN_PATH') ?? nodeModule('node:path').join(home(), 'token'));
  const text = await nodeModule('node:fs/promises')
    .readFile(path, 'utf8')
    .catch(() => '');
  return text.trim() || undefined;
}
