// Frameworks with a server: the package on their pages and in their server code, as a build and on the dev server.

import { type Project, type Server, story, tell } from './project.js';

/** Some require a newer Node than this project. */
const newerNode = { node: '24' };
const inPage = tell("new URL('/model/', location.href)");
const answer = "await story('./public/model')";

/** The same project as a build and on its dev server. */
const both = (
  { name, ...rest }: Omit<Project, 'run' | 'build'>,
  build: readonly string[],
  built: string,
  developed: string,
  places: Pick<Server, 'page' | 'answers'>,
): Project[] => [
  { name, ...rest, build, run: { kind: 'server', command: built, ...places } },
  { name: `${name}, dev server`, ...rest, run: { kind: 'server', command: developed, ...places } },
];

const next = {
  packages: { next: '16', react: '19', 'react-dom': '19' },
  files: {
    'lib/story.js': story,
    'app/layout.js':
      'export default ({ children }) => <html lang="en"><head><link rel="icon" href="data:," /></head><body>{children}</body></html>;\n',
    'app/page.js': `'use client';
import { useEffect } from 'react';
import { story } from '../lib/story.js';
export default function Page() {
  useEffect(() => {
    ${inPage.trim()}
  }, []);
  return <p>story</p>;
}
`,
    'app/api/route.js': `import { story } from '../../lib/story.js';
export const dynamic = 'force-dynamic';
export const GET = async () => new Response(${answer});
`,
    'app/server/page.js': `import { story } from '../../lib/story.js';
export const dynamic = 'force-dynamic';
export default async () => <pre>{${answer}}</pre>;
`,
  },
};
const nextIn = (name: string, flag: string): Project[] =>
  both(
    { name: `Next, ${name}: client component, server component, route handler`, ...next },
    [`next build ${flag}`],
    'next start -H 127.0.0.1 -p $PORT',
    `next dev ${flag} -H 127.0.0.1 -p $PORT`,
    { page: '/', answers: ['/api', '/server'] },
  );

const svelteKit = both(
  {
    name: 'SvelteKit: page, endpoint',
    packages: {
      '@sveltejs/kit': '3',
      '@sveltejs/adapter-node': '6',
      svelte: '5',
      '@sveltejs/vite-plugin-svelte': '*',
      vite: '8',
      ...newerNode,
    },
    files: {
      'src/lib/story.js': story,
      'src/app.html':
        '<!doctype html><html lang="en"><head><link rel="icon" href="data:,">%sveltekit.head%</head><body><div>%sveltekit.body%</div></body></html>\n',
      'src/routes/+page.svelte': `<script>
  import { onMount } from 'svelte';
  import { story } from '../lib/story.js';
  onMount(() => {
    ${inPage.trim()}
  });
</script>
<p>story</p>
`,
      'src/routes/api/+server.js': `import { story } from '../../lib/story.js';
export const GET = async () => new Response(${answer});
`,
      'vite.config.js': `import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
export default { plugins: [sveltekit({ adapter: adapter(), files: { assets: 'public' } })] };
`,
    },
  },
  ['vite build'],
  'node build',
  'vite dev --host 127.0.0.1 --strictPort --port $PORT',
  { page: '/', answers: ['/api'] },
);

const nuxt = both(
  {
    name: 'Nuxt: page, server route',
    packages: { nuxt: '4.5', ...newerNode },
    files: {
      'shared/story.js': story,
      'app/app.vue': `<script setup>
import { onMounted } from 'vue';
import { story } from '#shared/story.js';
onMounted(() => {
  ${inPage.trim()}
});
</script>
<template><p>story</p></template>
`,
      'server/routes/api.js': `import { story } from '#shared/story.js';
export default defineEventHandler(() => story('./public/model'));
`,
      'nuxt.config.js':
        "export default { telemetry: false, compatibilityDate: '2026-01-01', app: { head: { link: [{ rel: 'icon', href: 'data:,' }] } } };\n",
    },
  },
  ['nuxi build'],
  'env HOST=127.0.0.1 node .output/server/index.mjs',
  'nuxi dev --no-fork --host 127.0.0.1 --port $PORT',
  { page: '/', answers: ['/api'] },
);

const vike = both(
  {
    name: 'Vike with Vue: page, data of the server',
    packages: { vike: '0.4', 'vike-vue': '0.9', vue: '3', vite: '8', '@vitejs/plugin-vue': '6', ...newerNode },
    files: {
      'story.js': story,
      'pages/+config.js': "import vikeVue from 'vike-vue/config';\nexport default { extends: [vikeVue] };\n",
      'pages/index/+data.js': `import { story } from '../../story.js';
export const data = async () => ({ text: ${answer} });
`,
      'pages/index/+Page.vue': `<script setup>
import { useData } from 'vike-vue/useData';
import { onMounted } from 'vue';
import { story } from '../../story.js';
const { text } = useData();
onMounted(() => {
  ${inPage.trim()}
});
</script>
<template><p v-html="text"></p></template>
`,
      'vite.config.js': `import vue from '@vitejs/plugin-vue';
import vike from 'vike/plugin';
export default { plugins: [vue(), vike()] };
`,
    },
  },
  ['vike build'],
  'vike preview --host 127.0.0.1 --port $PORT',
  'vike dev --host 127.0.0.1 --port $PORT',
  { page: '/', answers: ['/'] },
);

const solidStart: Project = {
  name: 'SolidStart: page, API route',
  packages: { '@solidjs/start': '1.3', '@solidjs/router': '1.0', 'solid-js': '1', vinxi: '0.5', ...newerNode },
  files: {
    'src/story.js': story,
    'app.config.js': "import { defineConfig } from '@solidjs/start/config';\nexport default defineConfig({});\n",
    'src/app.jsx': `import { Router } from '@solidjs/router';
import { FileRoutes } from '@solidjs/start/router';
export default () => <Router><FileRoutes /></Router>;
`,
    'src/entry-client.jsx': `import { mount, StartClient } from '@solidjs/start/client';
mount(() => <StartClient />, document.getElementById('app'));
`,
    'src/entry-server.jsx': `import { createHandler, StartServer } from '@solidjs/start/server';
const page = ({ assets, children, scripts }) => (
  <html lang="en">
    <head><link rel="icon" href="data:," />{assets}</head>
    <body><div id="app">{children}</div>{scripts}</body>
  </html>
);
export default createHandler(() => <StartServer document={page} />);
`,
    'src/routes/index.jsx': `import { onMount } from 'solid-js';
import { story } from '../story.js';
export default () => {
  onMount(() => {
    ${inPage.trim()}
  });
  return <p>story</p>;
};
`,
    'src/routes/api.js': `import { story } from '../story.js';
export const GET = async () => new Response(${answer});
`,
  },
  build: ['vinxi build'],
  run: {
    kind: 'server',
    command: 'env HOST=127.0.0.1 node .output/server/index.mjs',
    page: '/',
    answers: ['/api'],
  },
};

const astro = both(
  {
    name: 'Astro: script of a page, endpoint',
    packages: { astro: '7', '@astrojs/node': '11', ...newerNode },
    files: {
      'src/story.js': story,
      'src/pages/index.astro': `<html lang="en"><head><link rel="icon" href="data:," /></head><body><p>story</p>
<script>
import { story } from '../story.js';
${inPage.trim()}
</script></body></html>
`,
      'src/pages/api.js': `import { story } from '../story.js';
export const prerender = false;
export const GET = async () => new Response(${answer});
`,
      'astro.config.mjs':
        "import node from '@astrojs/node';\nexport default { adapter: node({ mode: 'standalone' }), devToolbar: { enabled: false } };\n",
    },
  },
  ['astro build'],
  'env HOST=127.0.0.1 node dist/server/entry.mjs',
  'astro dev --host 127.0.0.1 --port $PORT',
  { page: '/', answers: ['/api'] },
);

const angularProject = {
  packages: {
    '@angular/core': '22',
    '@angular/build': '22',
    '@angular/cli': '22',
    '@angular/common': '22',
    '@angular/compiler': '22',
    '@angular/compiler-cli': '22',
    '@angular/platform-browser': '22',
    rxjs: '7',
    tslib: '2',
    typescript: '6',
    ...newerNode,
  },
  files: {
    'src/story.js': story,
    'src/tell.js': `import { story } from './story.js';\n${tell("new URL('model/', document.baseURI)")}`,
    'src/main.ts': `import { Component } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import './tell.js';
@Component({ selector: 'app-root', template: '<p>story</p>' })
class App {}
bootstrapApplication(App);
`,
    'src/index.html':
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><base href="./"><link rel="icon" href="data:,"></head><body><app-root></app-root></body></html>\n',
    'tsconfig.json': JSON.stringify({
      compilerOptions: { strict: true, target: 'es2022', module: 'preserve', allowJs: true, types: [] },
      files: ['src/main.ts'],
    }),
  },
  settings: { 'angular.json': 'angular' },
};

const angular: readonly Project[] = [
  {
    name: 'Angular, build',
    ...angularProject,
    build: ['ng build'],
    run: { kind: 'page', folder: 'dist/app/browser' },
  },
  {
    name: 'Angular, dev server',
    ...angularProject,
    run: { kind: 'server', command: 'ng serve --host 127.0.0.1 --port $PORT', page: '/' },
  },
];

const storybookOf = (framework: string, { packages, files, settings }: Omit<Project, 'name' | 'run'>): Project[] => {
  const project = {
    packages: { storybook: '10', [`@storybook/${framework}`]: '10', ...packages, ...newerNode },
    files: { 'story.js': story, ...files },
    ...(settings && { settings }),
  };
  const path = 'iframe.html?id=story--writes&viewMode=story';
  return [
    {
      name: `Storybook, ${framework}, build`,
      ...project,
      build: ['storybook build --disable-telemetry --quiet -o out'],
      run: { kind: 'page', folder: 'out', path },
    },
    {
      name: `Storybook, ${framework}, dev server`,
      ...project,
      run: {
        kind: 'server',
        command: 'storybook dev --ci --no-open --disable-telemetry --host 127.0.0.1 --exact-port -p $PORT',
        page: `/${path}`,
      },
    },
  ];
};

/** A story that runs the package and renders that element. */
const writes = (element: string, imports = ''): string => `${imports}import { story } from '../story.js';
export default { title: 'Story' };
export const Writes = { render: () => {
  ${tell("new URL('model/', document.baseURI)").trim()}
  return ${element};
} };
`;

const storybook: readonly Project[] = [
  ...storybookOf('html-vite', {
    packages: { vite: '8' },
    files: {
      'stories/story.stories.js': writes("document.createElement('p')"),
      '.storybook/main.js':
        "export default { stories: ['../stories/*.stories.js'], staticDirs: ['../public'], framework: '@storybook/html-vite' };\n",
    },
  }),
  ...storybookOf('react-webpack5', {
    packages: { react: '19', 'react-dom': '19' },
    files: { 'stories/story.stories.js': writes("createElement('p')", "import { createElement } from 'react';\n") },
    settings: { '.storybook/main.js': 'storybook-webpack' },
  }),
];

export const frameworks: readonly Project[] = [
  ...nextIn('Turbopack', '--turbopack'),
  ...nextIn('webpack', '--webpack'),
  ...svelteKit,
  ...nuxt,
  ...vike,
  solidStart,
  ...astro,
  ...angular,
  ...storybook,
];
