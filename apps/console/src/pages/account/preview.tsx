import { useEffect, useRef } from 'react';
import { sayer } from '../../messages/language.ts';

const say = sayer('settings');

/** What reads a text as a document. The policy of the console names it, and lets nothing else do so. */
const reader = globalThis.trustedTypes?.createPolicy('preview', { createHTML: (html) => html });

/**
 * A page that the service has made, in a frame in which nothing runs. The policy of the console lets no document bring styles
 * of its own, so they are taken out of it and adopted as a sheet, which the policy does not concern.
 */
export function Preview({ html }: { readonly html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const inner = frame.current?.contentDocument;
    const view = inner?.defaultView;
    if (!inner || !view) return;
    const { page, styles } = parsed(html);
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(styles);
    inner.adoptedStyleSheets = [sheet];
    inner.documentElement.lang = page.documentElement.lang;
    inner.title = page.title;
    inner.body.replaceChildren(...page.body.childNodes);
  }, [html]);
  return <iframe ref={frame} className="preview" title={say('preview')} sandbox="allow-same-origin" />;
}

/** The document without its styles, since the policy would refuse them even where nothing is drawn. */
function parsed(html: string): { readonly page: Document; readonly styles: string } {
  const [before = '', rest = ''] = html.split('<style>');
  const [styles = '', after = ''] = rest.split('</style>');
  const text = before + after;
  const page = new DOMParser().parseFromString(reader?.createHTML(text) ?? text, 'text/html');
  return { page, styles };
}
