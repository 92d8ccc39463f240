import { lazy, Suspense } from 'react';
import { sayer } from '../messages/language.ts';
import { Copy } from './text.tsx';

const say = sayer('text');
const SnippetTabs = lazy(() => import('./snippet-tabs.tsx'));

export interface SnippetsProps {
  readonly label: string;
  /** By the name of the language. */
  readonly snippets: Readonly<Record<string, string>>;
}

/** The same call in each language, one of them at a time. */
export const Snippets = (props: SnippetsProps) => (
  <Suspense>
    <SnippetTabs {...props} />
  </Suspense>
);

export const Code = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <section className="code" aria-label={label}>
    <Copy text={text} of={label} label={say('copy')} />
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled by keyboard, so the text takes the focus. */}
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  </section>
);
