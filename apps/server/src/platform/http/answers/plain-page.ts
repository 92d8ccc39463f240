import type { FastifyReply, FastifyRequest } from 'fastify';

/** A page without a script: a title, a sentence and at most one button, which posts to the page's own address. */
export interface PlainPage {
  readonly title: string;
  readonly lead: string;
  readonly button?: string;
}

const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export function sendPage(reply: FastifyReply, page: PlainPage): FastifyReply {
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      vary: 'Accept',
    })
    .send(htmlOf(page));
}

/** Whether the client is a browser that shows the answer to a person. */
export const asksForPage = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /\btext\/html\b/i.test(accept);

/** Whether to answer with a page where nothing speaks for JSON. */
export const prefersPage = (request: FastifyRequest): boolean =>
  asksForPage(request) || !/\bapplication\/json\b/i.test(request.headers.accept ?? '');

const htmlOf = ({ title, lead, button }: PlainPage) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>${escaped(title)} – Behest</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <link rel="stylesheet" href="/platform/page/page.css">
  </head>
  <body>
    <header class="masthead">Behest</header>
    <main>
      <h1>${escaped(title)}</h1>
      <p class="lead">${escaped(lead)}</p>
      ${button === undefined ? '' : `<form class="lead" method="post"><button>${escaped(button)}</button></form>`}
    </main>
  </body>
</html>
`;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? '');
