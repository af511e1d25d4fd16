// Entry of the page.

import { theme } from './book/theme.js';
import './shell/app.js';

theme.restore();
