import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A page without a script: a title, a sentence and at most one form, which posts to the page's own address, or one link.
 */
export interface PlainPage {
  readonly title: string;
  readonly lead: string;
  readonly button?: string;
  /** The reason why the form is shown again. */
  readonly fault?: string | undefined;
  readonly fields?: readonly PlainField[];
  /** Members of the form that the person does not see. */
  readonly hidden?: Readonly<Record<string, string>>;
  /** A place elsewhere, to which nothing leads but the person's own decision. */
  readonly link?: { readonly label: string; readonly href: string };
  /** Where the answer to the form sends the browser, one place after the other, if it leaves the service. */
  readonly leadsTo?: string | readonly string[] | undefined;
}

interface PlainField {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'password';
  readonly autocomplete: string;
}

const policyOf = ({ leadsTo = [] }: PlainPage) => {
  const places = [leadsTo].flat().filter((place) => URL.canParse(place));
  const targets = places.map((place) => ` ${new URL(place).origin}`).join('');
  return `default-src 'none'; style-src 'self'; form-action 'self'${targets}; base-uri 'none'; frame-ancestors 'none'`;
};

export function sendPage(reply: FastifyReply, page: PlainPage): FastifyReply {
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf(page),
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

const formOf = ({ button, fields = [], hidden = {}, fault }: PlainPage) => {
  if (button === undefined) return '';
  const secret = Object.entries(hidden).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  const shown = fields.map(
    ({ name, label, type, autocomplete }) =>
      `<p><label>${escaped(label)}<br><input name="${name}" type="${type}" autocomplete="${autocomplete}" inputmode="text" required></label></p>`,
  );
  const said = fault === undefined ? '' : `<p role="alert">${escaped(fault)}</p>`;
  return `<form class="lead" method="post">${said}${[...secret, ...shown].join('')}<button>${escaped(button)}</button></form>`;
};

const linkOf = ({ link }: PlainPage) =>
  link
    ? `<p class="lead"><a href="${escaped(link.href)}" rel="noreferrer">${escaped(link.label)}</a></p>`
    : '';

const htmlOf = (page: PlainPage) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>${escaped(page.title)} – Behest</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <link rel="stylesheet" href="/platform/page/page.css">
  </head>
  <body>
    <header class="masthead">Behest</header>
    <main>
      <h1>${escaped(page.title)}</h1>
      <p class="lead">${escaped(page.lead)}</p>
      ${formOf(page)}${linkOf(page)}
    </main>
  </body>
</html>
`;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? '');
