// What the build makes for the command line; see scripts/build/generation_options.ts.

declare module 'built:generation_options' {
  /** The members of GenerationOptions that can be written as a word, with what is said of them there. */
  const options: readonly {
    /** `max_new_tokens` */
    name: string;
    /** Its TypeScript type without `undefined`: `number | null` */
    type: string;
    description: string;
    /** What it is about: `How long` */
    group: string;
  }[];
  export default options;
}

declare module 'built:package' {
  /** Of package.json. */
  export const version: string;
  export const description: string;
}
