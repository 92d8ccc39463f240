import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '../../errors.ts';
import { pageLanguage, type Say, sayIn } from '../../languages.ts';
import { variesBy } from './headers.ts';

/**
 * A title, a sentence and at most one form, which posts to the page's own address, or one link. No script runs on it, but for
 * the one that presses the button of an `interstitial`. Its texts are in English, and are shown in the language of the browser
 * where they have messages.
 */
export interface PlainPage {
  readonly title: string;
  readonly lead: string;
  /** In place of a lead that has no message in the language: a sentence for programs. */
  readonly otherwise?: string;
  /** In place of the names in braces. */
  readonly values?: Readonly<Record<string, string>>;
  /** The seconds to wait, in place of `{duration}`. */
  readonly seconds?: number;
  readonly button?: string;
  /** The reason why the form is shown again. */
  readonly fault?: string | undefined;
  readonly fields?: readonly PlainField[];
  /** Members of the form that the person does not see. */
  readonly hidden?: Iterable<readonly [name: string, value: string]>;
  /** A place elsewhere, to which nothing leads but the person's own decision. */
  readonly link?: PlainLink;
  /** Where the reader may go on to, with a sentence for each. */
  readonly links?: readonly (PlainLink & { readonly about: string })[];
  /** Texts under their headings, each with at most one link. */
  readonly cards?: readonly PlainCard[];
  /** What the reader quotes who reports the page. */
  readonly requestId?: string;
  /** The path that the form posts to, in place of the page's own address with its query. */
  readonly action?: string;
  /** Whether the form submits itself where scripts run. */
  readonly submitsItself?: true;
  /** The page shows itself only until the browser has gone there. */
  readonly onward?: string;
}

interface PlainLink {
  readonly label: string;
  readonly href: string;
}

export interface PlainCard {
  readonly title: string;
  readonly about: string;
  /** Shown with its lines as they are. */
  readonly text: string;
  readonly link?: PlainLink;
}

interface PlainField {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'password';
  readonly autocomplete: string;
}

const policyOf = ({ submitsItself }: PlainPage) => {
  const script = submitsItself ? "script-src 'self'; " : '';
  return `default-src 'none'; ${script}style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
};

export function sendPage(reply: FastifyReply, page: PlainPage): FastifyReply {
  const { headers, body } = pageAnswer(page, languageFor(reply.request));
  return reply.headers({ ...headers, vary: variesBy(reply, headers.vary) }).send(body);
}

/** The language of a page for whoever sends a request. */
export const languageFor = ({ headers, url }: Pick<FastifyRequest, 'headers' | 'url'>): string =>
  pageLanguage(headers['accept-language'], new URLSearchParams(url.split('?')[1]).get('ui_locales'));

export const pageAnswer = (page: PlainPage, language: string) => ({
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policyOf(page),
    'content-language': language,
    vary: 'Accept, Accept-Language',
    // Without a referrer a browser calls the origin of the form `null`. This one holds no path and no query.
    ...(page.submitsItself && { 'referrer-policy': 'strict-origin' }),
  },
  body: htmlOf(page, language),
});

/**
 * Answers a browser's GET that would use something up by a page which posts the same parameters (RFC 9110, section 9.2.1). Who
 * only fetches the address, ahead of a person or to look for malware, uses nothing up.
 */
export function sendInterstitial({ url }: FastifyRequest, reply: FastifyReply, page: Interstitial) {
  const { pathname: action, searchParams: hidden } = new URL(url, 'http://localhost');
  return sendPage(reply.header('cache-control', 'no-store'), {
    ...page,
    action,
    hidden,
    submitsItself: true,
  });
}

type Interstitial = Required<Pick<PlainPage, 'title' | 'lead' | 'button'>>;

/**
 * Sends the browser on after a form of ours, by a page: `form-action` would have to name every host of a redirect's way,
 * which only the hosts know.
 */
export const sendOnward = (reply: FastifyReply, url: string) =>
  sendPage(reply.header('cache-control', 'no-store'), {
    title: texts.onward,
    lead: texts.onwardText,
    link: { label: texts.go, href: url },
    onward: url,
  });

/** Whether the client is a browser that shows the answer to a person. */
export const asksForPage = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /\btext\/html\b/i.test(accept);

/**
 * Whether the client prefers a page to JSON (RFC 9110, section 12.5.1), and may be a browser that shows it: it follows a
 * link, without a credential. A program that names both alike gets JSON, and so does `fetch`, which sends a bare star.
 */
export function prefersHtml({ method, headers }: Pick<FastifyRequest, 'headers' | 'method'>): boolean {
  const { accept = '', authorization } = headers;
  if (!['GET', 'HEAD'].includes(method) || authorization !== undefined) return false;
  const weightOf = (type: string) => {
    const range = accept.split(',').find((each) => each.split(';')[0]?.trim().toLowerCase() === type);
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/i.exec(range)?.[1] ?? 1);
  };
  return weightOf('text/html') > weightOf('application/json');
}

/** Whether to answer with a page where nothing speaks for JSON. */
export const prefersPage = (request: FastifyRequest): boolean =>
  asksForPage(request) || !/\bapplication\/json\b/i.test(request.headers.accept ?? '');

const formOf = ({ button, fields = [], hidden = [], fault, action }: PlainPage, say: Say) => {
  if (button === undefined) return '';
  const secret = [...hidden].map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  const shown = fields.map(
    ({ name, label, type, autocomplete }) =>
      `<p><label>${escaped(say(label))}<br><input name="${name}" type="${type}" autocomplete="${autocomplete}" inputmode="text" required></label></p>`,
  );
  const said = fault === undefined ? '' : `<p role="alert">${escaped(say(fault))}</p>`;
  return `<form class="lead" method="post"${action === undefined ? '' : ` action="${escaped(action)}"`}>${said}${[...secret, ...shown].join('')}<button>${escaped(say(button))}</button></form>`;
};

const linkOf = ({ link }: { readonly link?: PlainLink | undefined }, say: Say) =>
  link
    ? `<p class="lead"><a href="${escaped(link.href)}" rel="noreferrer">${escaped(say(link.label))}</a></p>`
    : '';

const linksOf = ({ links }: PlainPage, say: Say) => {
  if (!links) return '';
  const rows = links.map(
    ({ label, href, about }) =>
      `<li><a href="${escaped(href)}">${escaped(say(label))}</a><p class="aside">${escaped(say(about))}</p></li>`,
  );
  return `<ul class="card rows">${rows.join('')}</ul>`;
};

const cardsOf = ({ cards = [] }: PlainPage, say: Say) =>
  cards
    .map(
      ({ title, about, text, link }) =>
        `<article class="card"><h2>${escaped(title)}</h2><p class="aside">${escaped(about)}</p><pre>${escaped(text)}</pre>${linkOf({ link }, say)}</article>`,
    )
    .join('');

function requestIdOf({ requestId }: PlainPage, say: Say): string {
  if (requestId === undefined) return '';
  const said = escaped(say(texts.request)).replace('{id}', () => `<code>${escaped(requestId)}</code>`);
  return `<p class="lead aside">${said}</p>`;
}

/** In seconds, and from two minutes on in minutes. */
function durationIn(language: string, seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

/** Says the texts of a page, with its values. */
function sayingOf({ values, seconds }: PlainPage, language: string): Say {
  const say = sayIn(language);
  const all = { ...values, ...(seconds !== undefined && { duration: durationIn(language, seconds) }) };
  return (english) => say(english, all);
}

function leadOf({ lead, otherwise }: PlainPage, say: Say, language: string): string {
  const said = say(lead);
  return language !== 'en' && otherwise !== undefined && said === lead ? say(otherwise) : said;
}

const headOf = ({ submitsItself, onward }: PlainPage) =>
  [
    submitsItself && '<script type="module" src="/platform/page/submit.js"></script>',
    onward !== undefined && `<meta http-equiv="refresh" content="0; url=${escaped(onward)}">`,
  ]
    .filter((tag) => tag !== undefined && tag !== false)
    .map((tag) => `\n    ${tag}`)
    .join('');

function htmlOf(page: PlainPage, language: string): string {
  const say = sayingOf(page, language);
  const title = escaped(say(page.title));
  return `<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <title>${title} – Behest</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <link rel="stylesheet" href="/platform/page/page.css">${headOf(page)}
  </head>
  <body>
    <header class="masthead">Behest</header>
    <main>
      <h1>${title}</h1>
      <p class="lead">${escaped(leadOf(page, say, language))}</p>
      ${formOf(page, say)}${linkOf(page, say)}${linksOf(page, say)}${cardsOf(page, say)}${requestIdOf(page, say)}
    </main>
  </body>
</html>
`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** For a text of HTML, and for an attribute in double quotes. */
export const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? '');

/** What a person reads in place of sentences for programs. @public The check of the messages reads it. */
export const texts = {
  programs: 'This is for programs',
  key: 'This address answers programs that send a key. There is nothing to see here.',
  noPage: 'There is no such page',
  incomplete: 'The link may be incomplete, or what it led to has ended.',
  noBrowser: 'This address cannot be opened in a browser.',
  tooMany: 'Too many requests',
  tooManyText: 'More requests came from here than the service takes.',
  tooManyWait: 'More requests came from here than the service takes. Try again in {duration}.',
  wrong: 'Something went wrong',
  wrongText: 'The fault is on our side. Try again, and quote the request below if it goes on.',
  away: 'Not available right now',
  awayText: 'The service cannot answer at the moment. Try again in a minute.',
  unnamed: 'This did not work',
  refused: 'The service has refused this. Go back to where you came from, and begin again.',
  unknownSite:
    'The site {host} sent you here with a request that the service refuses ({code}). The service does not know this site. Go back only if you came from there.',
  goBack: 'Go back to {host}',
  request: 'Request {id}',
  onward: 'One moment',
  onwardText: 'You are being sent on.',
  go: 'Continue',
};

const WORDS: Readonly<Record<number, readonly [title: string, lead: string]>> = {
  401: [texts.programs, texts.key],
  404: [texts.noPage, texts.incomplete],
  405: [texts.programs, texts.noBrowser],
  429: [texts.tooMany, texts.tooManyText],
  500: [texts.wrong, texts.wrongText],
  503: [texts.away, texts.awayText],
};

/** The page of a refusal, for a browser that opened an address of programs, or none. It repeats nothing of the address. */
export function strayPage(error: AppError, requestId: string): PlainPage {
  const { retryAfter } = Object(error.details);
  if (error.status === 429 && retryAfter !== undefined) {
    return { title: texts.tooMany, lead: texts.tooManyWait, seconds: Number(retryAfter), requestId };
  }
  const [title, lead] = WORDS[error.status] ?? [texts.unnamed, error.message];
  return { title, lead, otherwise: texts.refused, requestId };
}

/**
 * The page of a refusal. `details.leadsTo` is the web address of a site that nobody here knows. The page then names the host
 * and shows none of the site's own words, since a person takes every word on it for the service's.
 */
export function refusalPage({ message, details }: AppError, requestId: string): PlainPage {
  const { leadsTo, oauth } = Object(details);
  if (leadsTo === undefined) {
    return { title: texts.unnamed, lead: message, otherwise: texts.refused, requestId };
  }
  const { host } = new URL(leadsTo);
  return {
    title: texts.unnamed,
    lead: texts.unknownSite,
    link: { label: texts.goBack, href: leadsTo },
    values: { host, code: String(oauth) },
    requestId,
  };
}

/** A sample holds the styles of the pages, so that it needs nothing but itself. */
const STYLES = readFileSync(join(import.meta.dirname, '../../page/page.css'), 'utf8');

interface Sample {
  readonly name: string;
  /** As `#rrggbb`. */
  readonly accentColor: string | null;
  readonly png: Buffer | undefined;
}

/** A made-up request for consent in the colour and with the logo of an account. It runs no script and asks nobody for anything. */
export function samplePage({ name, accentColor, png }: Sample): string {
  const colour = accentColor === null ? '' : `:root { --fill: ${accentColor} }`;
  const logo = png ? `<img src="data:image/png;base64,${png.toString('base64')}" alt="">` : '';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Preview</title>
    <style>${STYLES}${colour}</style>
  </head>
  <body>
    <header class="masthead">${logo}<bdi>${escaped(name)}</bdi></header>
    <main>
      <h1>An example asks to act for you</h1>
      <p>Signed in as <strong>ada@example.org</strong></p>
      <section class="card">
        <p class="headline">Spend up to <strong>€200.00</strong> in all</p>
        <ul class="rows"><li class="far"><span class="words">Send email in your name</span></li><li>Read your calendar</li></ul>
      </section>
      <footer class="colophon">Behest</footer>
      <div class="bar"><div class="decide"><button type="button">Deny</button><button type="button">Allow</button></div></div>
    </main>
  </body>
</html>
`;
}
