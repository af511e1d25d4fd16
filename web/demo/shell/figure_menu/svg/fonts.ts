// Embeds the page's fonts in the image, so that it renders the same without them: an SVG file used as an image can load
// no resources and has no access to the page's fonts.

const fetched = new Map<string, Promise<string | undefined>>();

async function dataUrl(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url);
    if (!response.ok) return undefined;
    const bytes = new Uint8Array(await response.arrayBuffer());
    let binary = '';
    for (const byte of bytes) binary += String.fromCharCode(byte);
    return `data:font/woff2;base64,${btoa(binary)}`;
  } catch {
    return undefined; // The image then only names the family.
  }
}

function faces(): { rule: CSSFontFaceRule; base: string }[] {
  return [...document.styleSheets].flatMap((sheet) => {
    try {
      const base = sheet.href ?? document.baseURI;
      return [...sheet.cssRules].flatMap((rule) => (rule instanceof CSSFontFaceRule ? [{ rule, base }] : []));
    } catch {
      return []; // A cross-origin style sheet.
    }
  });
}

/** @font-face rules with embedded files, for the families in `used`. */
export async function fontRules(used: ReadonlySet<string>): Promise<string> {
  const rules = faces().map(async ({ rule: { style }, base }) => {
    const family = style.getPropertyValue('font-family').replace(/["']/g, '');
    const url = /url\(["']?([^"')]+)["']?\)/.exec(style.getPropertyValue('src'))?.[1];
    if (!used.has(family) || url === undefined) return '';
    const file = new URL(url, base).href;
    if (!fetched.has(file)) fetched.set(file, dataUrl(file));
    const data = await fetched.get(file);
    if (data === undefined) return '';
    const more = ['font-weight', 'font-style', 'unicode-range']
      .map((name) => [name, style.getPropertyValue(name)])
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}:${value};`);
    return `@font-face{font-family:"${family}";src:url(${data}) format("woff2");${more.join('')}}`;
  });
  return (await Promise.all(rules)).join('\n');
}
