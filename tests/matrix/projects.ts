// The projects of `npm run matrix`, in the order of its table.

import { bundlers } from './bundlers.js';
import { engines } from './engines.js';
import { frameworks } from './frameworks.js';
import { pages } from './pages.js';
import type { Project } from './project.js';

export const projects: readonly Project[] = [...bundlers, ...pages, ...frameworks, ...engines];
