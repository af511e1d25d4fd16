// The folders and token of Python's huggingface_hub, from the same environment variables (Node).

import { isToken } from '../support/config.js';
import { ClearformerError } from '../support/error.js';
import { allowed, environment, isOn, nodeModule } from '../support/platform.js';

/** The user's folder, which is asked for only where it is needed: Deno has a permission for it. */
const userFolder = (): string =>
  allowed('the home folder (an HF_HOME without ~ needs none)', () => nodeModule('node:os').homedir());

/** Expands `~` and `$NAME` like os.path.expanduser and expandvars. */
function expanded(path: string): string {
  const whole = path === '~' || /^~[\\/]/.test(path) ? userFolder() + path.slice(1) : path;
  return whole.replace(/\$(?:(\w+)|\{(\w+)\})/g, (text, name, braced) => environment(name ?? braced) ?? text);
}

function home(): string {
  const { join } = nodeModule('node:path');
  const caches = () => environment('XDG_CACHE_HOME') ?? join(userFolder(), '.cache');
  return expanded(environment('HF_HOME') ?? join(caches(), 'huggingface'));
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

/**
 * HF_TOKEN, or the token that `hf auth login` wrote; none if HF_HUB_DISABLE_IMPLICIT_TOKEN is on. Throws
 * `invalid_argument` for one that no header can hold, without its value.
 */
export async function storedToken(): Promise<string | undefined> {
  if (isOn(environment('HF_HUB_DISABLE_IMPLICIT_TOKEN'))) return undefined;
  for (const name of ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN']) {
    const own = environment(name);
    if (own !== undefined) return cleaned(own, name);
  }
  const path = expanded(environment('HF_TOKEN_PATH') ?? nodeModule('node:path').join(home(), 'token'));
  const text = await nodeModule('node:fs/promises')
    .readFile(path, 'utf8')
    .catch(() => '');
  return cleaned(text, path);
}

/** Without line breaks and outer spaces, as in Python; `from` is for the message. */
function cleaned(text: string, from: string): string | undefined {
  const token = text.replace(/[\r\n]/g, '').trim();
  if (token === '' || isToken(token)) return token || undefined;
  const message = `the token of ${from} must be a text without spaces (token: false sends none)`;
  throw new ClearformerError('invalid_argument', message, { option: 'token' });
}
