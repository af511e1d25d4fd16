// Entry of the page.

import { theme } from './book/theme.js';
import './shell/app.js';
import { offline } from './book/offline.js';
import { preparePrinting } from './shell/print.js';

theme.restore();
offline.keep(document);
preparePrinting();
