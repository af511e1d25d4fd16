// Entry of the page.

import { theme } from './book/theme.js';
import './shell/app.js';
import { offline } from './shell/offline.js';

theme.restore();
offline.keep(document);
