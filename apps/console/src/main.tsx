import 'virtual:tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/table.css';
import './styles/dialogs.css';
import './styles/pages.css';
import './styles/rules.css';
import './styles/shell.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { loadLanguage } from './messages/language.ts';
import { queries } from './queries.ts';
import { router } from './router.ts';
import { takeLink } from './session/link.ts';

takeLink();
// The library of the plots hands the browser's language to Intl as it is, which refuses one such as `en-US@posix`.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' });
}
await loadLanguage(navigator.languages);

const root = document.getElementById('root');
if (!root) throw new Error('The document has no place for the console.');
createRoot(root).render(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
