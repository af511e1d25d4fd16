// Caches every file of one build of the page for offline use. A new build has a new list: unchanged files are copied
// from the previous build's cache, which is kept for pages that are still open. onnxruntime-web is cached when it was
// used.

interface WorkerEvent extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
  waitUntil(work: Promise<unknown>): void;
}
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate' | 'fetch', listener: (event: WorkerEvent) => void): void;
}
/**
 * Digests of the build's files by path relative to the page's folder, and one of all of them; defined by
 * vite.config.ts.
 */
declare const buildFiles: Readonly<Record<string, string>>;
declare const buildVersion: string;

const worker = self as unknown as WorkerScope;
const prefix = `clearformer ${worker.registration.scope} `; // Caches belong to the origin, which may host other pages.
const name = prefix + buildVersion;
const listKey = 'cached-files.json';
const onRequestFolder = 'onnxruntime/';
const onRequestManifest = `${onRequestFolder}manifest.json`;
const urlOf = (path: string): string => new URL(path, worker.registration.scope).href;

const ours = async (): Promise<string[]> => (await caches.keys()).filter((each) => each.startsWith(prefix));

/** The file from another build's cache, if its contents are the same. */
async function kept(path: string, digest: string): Promise<Response | undefined> {
  for (const each of await ours()) {
    const cache = await caches.open(each);
    const files: Record<string, string> = await (await cache.match(urlOf(listKey)))?.json();
    if (files?.[path] === digest) return cache.match(urlOf(path));
  }
  return undefined;
}

async function fetched(path: string): Promise<Response> {
  const response = await fetch(urlOf(path), { cache: 'no-cache' });
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
  // A redirected response must not answer a navigation.
  return response.redirected ? new Response(await response.blob(), { headers: response.headers }) : response;
}

/** Deletes the caches of builds whose files did not all arrive: only whole builds are pages that may be open. */
async function dropPartial(): Promise<void> {
  for (const each of await ours()) {
    if (!(await (await caches.open(each)).match(urlOf(listKey)))) await caches.delete(each);
  }
}

async function install(): Promise<void> {
  await dropPartial(); // of workers that were ended while they installed
  const cache = await caches.open(name);
  try {
    for (const [path, digest] of Object.entries(buildFiles)) {
      await cache.put(urlOf(path), (await kept(path, digest)) ?? (await fetched(path)));
    }
    await cache.put(urlOf(listKey), Response.json(buildFiles)); // Last: a list implies that its files are cached.
  } catch (error) {
    await dropPartial();
    throw error;
  }
  await worker.skipWaiting();
}

async function activate(): Promise<void> {
  const others = (await ours()).filter((each) => each !== name);
  await Promise.all(others.slice(0, -1).map((each) => caches.delete(each)));
  await worker.clients.claim();
}

/**
 * A file of onnxruntime-web: from a cache of its own once it was fetched. Only the manifest is asked for each time;
 * files of other versions than the one it names are deleted.
 */
async function onRequest(request: Request, url: string): Promise<Response> {
  const cache = await caches.open(`clearformer-on-request ${worker.registration.scope}`);
  const isManifest = url === urlOf(onRequestManifest);
  const found = await cache.match(url);
  if (found && !isManifest) return found;
  try {
    const response = await fetch(request);
    if (!response.ok || request.method === 'HEAD') return response; // whose body is empty
    if (isManifest) await keepVersion(cache, String((await response.clone().json()).version));
    await cache.put(url, response.clone()).catch(() => undefined); // no space: the file is fetched again next time
    return response;
  } catch (error) {
    if (found) return found;
    throw error;
  }
}

async function keepVersion(cache: Cache, version: string): Promise<void> {
  const others = (await cache.keys()).filter(({ url }) => !url.startsWith(urlOf(`${onRequestFolder}${version}/`)));
  await Promise.all(others.map((each) => cache.delete(each)));
}

async function answer(request: Request): Promise<Response> {
  const url = request.url.replace(/[?#].*$/, '').replace(/\/index\.html$/, '/');
  if (url.startsWith(urlOf(onRequestFolder))) return onRequest(request, url);
  const found = (await (await caches.open(name)).match(url)) ?? (await caches.match(url));
  return found ?? fetch(request);
}

worker.addEventListener('install', (event) => event.waitUntil(install()));
worker.addEventListener('activate', (event) => event.waitUntil(activate()));
worker.addEventListener('fetch', (event) => {
  const { method, url } = event.request;
  const asks = method === 'GET' || method === 'HEAD';
  if (asks && url.startsWith(worker.registration.scope)) event.respondWith(answer(event.request));
});

export {};
