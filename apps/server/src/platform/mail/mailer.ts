import { escaped } from '../http/answers/plain-page.ts';
import { sayIn } from '../languages.ts';
import type { Tracer } from '../telemetry/tracing.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Complete, because any program may read it. `htmlOf` makes the other form from it. */
  readonly text: string;
  /** What the link does, for its button. */
  readonly button?: string;
  /** The account that asks, for the heading. It is not read from the text, in which others choose names. */
  readonly account?: string;
  /** Of the text; absent, English. */
  readonly language?: string;
}

/** The words that mails share. @public The check of the messages reads it. */
export const texts = { open: 'Open the page', through: 'through Behest', sentBy: 'Sent by Behest, {host}.' };

/** What the link of a mail does. */
export const buttonOf = ({ button, language = 'en' }: Pick<Mail, 'button' | 'language'>): string =>
  button ?? sayIn(language)(texts.open);

/** Hands mail over. Nobody can tell whether it arrives. @throws when it cannot be handed over */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}

/** Whether an address needs SMTPUTF8 (RFC 6531), without which its letters before the `@` would be sent raw. */
export const isBeyondMail = (address: string): boolean =>
  !/^\p{ASCII}*$/u.test(address.slice(0, Math.max(address.lastIndexOf('@'), 0)));

const KEPT = 20;

/** Sends nothing: keeps the last mails, for the developer at this machine to read. */
export interface DevelopmentMailer extends Mailer {
  /** Newest first. */
  sent(): readonly Mail[];
}

/** @param print receives each mail, for the log */
export function developmentMailer(print: (mail: Mail) => void): DevelopmentMailer {
  const mails: Mail[] = [];
  return {
    async send(mail) {
      mails.unshift(mail);
      mails.length = Math.min(mails.length, KEPT);
      print(mail);
    },
    sent: () => mails,
  };
}

export interface MailSettings {
  readonly isProduction: boolean;
  readonly http: { readonly publicBaseUrl: string };
  readonly mail: { readonly url: string; readonly from: string } | undefined;
}

export interface OpenedMailer {
  /** Undefined when mail cannot be sent. */
  readonly mailer?: Mailer;
  /** The same mailer, when it keeps mail for a look instead of sending it. */
  readonly development?: DevelopmentMailer;
}

/** @param print receives each mail that is kept instead of sent */
export async function openMailer(
  { isProduction, http, mail }: MailSettings,
  print: (mail: Mail) => void,
  tracer?: Tracer,
): Promise<OpenedMailer> {
  if (mail) {
    const { smtpMailer } = await import('./smtp-mailer.ts'); // loaded only to send, since loading is slow
    const mailer = smtpMailer(mail.url, mail.from, isProduction, (sent) => htmlOf(sent, http.publicBaseUrl));
    return { mailer: tracer ? tracedMailer(mailer, tracer) : mailer };
  }
  if (isProduction) return {};
  const development = developmentMailer(print);
  return { mailer: development, development };
}

/** Makes a span for each mail, without its recipient and its text. */
function tracedMailer(mailer: Mailer, tracer: Tracer): Mailer {
  const call = { name: 'smtp send', attributes: { 'network.protocol.name': 'smtp' } };
  return { send: (mail) => tracer.call(call, () => mailer.send(mail)) };
}

/** The tokens of `page.css` that a mail needs. No image and no style comes from elsewhere. */
const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; padding: 24px 12px; background: #f3f4f6; color: #14171a; font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 560px; margin: 0 auto; padding: 24px; border: 1px solid #dfe3e7; border-radius: 12px; background: #fff; overflow-wrap: anywhere; }
h1 { margin: 0 0 12px; font-size: 16px; font-weight: 600; }
p { margin: 0 0 16px; }
.button { display: inline-block; padding: 12px 20px; border-radius: 12px; background: #0b5a68; color: #fff; font-weight: 600; text-decoration: none; }
.code { font-size: 28px; font-weight: 600; letter-spacing: 3px; }
table { margin: 0 0 16px; border-spacing: 0; }
th { padding: 4px 16px 4px 0; color: #545c65; font-weight: 400; text-align: start; vertical-align: top; }
td { padding: 4px 0; }
.aside { color: #545c65; font-size: 13px; }
@media (prefers-color-scheme: dark) {
  body { background: #0e1113; color: #e8ecef; }
  main { border-color: #2e353b; background: #171b1f; }
  th, .aside { color: #a5afb8; }
}
`;

const MOST = 24; // characters of a term; more are a sentence

interface Block {
  readonly lines: readonly string[];
  /** The terms and values of lines such as `The account: Acme`. */
  readonly rows?: readonly (readonly [term: string, value: string])[];
  readonly isIndented: boolean;
}

function blocksOf(text: string): readonly Block[] {
  return text
    .trimEnd()
    .split('\n\n')
    .map((block) => {
      const lines = block.split('\n');
      const isIndented = lines.every((line) => line.startsWith('    '));
      const rows = lines.map((line): readonly [string, string] => {
        const end = line.indexOf(': ');
        return [line.slice(0, Math.max(end, 0)).trimEnd(), line.slice(end + 2)]; // French has a blank before the colon
      });
      const areRows = !isIndented && rows.every(([term]) => term !== '' && term.length <= MOST);
      return { lines: lines.map((line) => line.trim()), isIndented, ...(areRows && { rows }) };
    });
}

/**
 * A mail's text as HTML: its paragraphs, its rows, its code, and a button for its link. Only an address of this service
 * becomes a link, on a line of its own, because others choose the names in a mail. The account that asks stands first.
 */
export function htmlOf(mail: Omit<Mail, 'to' | 'subject'>, base: string): string {
  const { text, account, language = 'en' } = mail;
  const say = sayIn(language);
  const parts = blocksOf(text).map(({ lines, rows, isIndented }) => {
    const [first = ''] = lines;
    if (isIndented && first.startsWith(`${base}/`))
      return `<p><a class="button" href="${escaped(first)}">${escaped(buttonOf(mail))}</a></p><p class="aside">${escaped(first)}</p>`;
    if (isIndented && lines.length === 1) return `<p class="code">${escaped(first)}</p>`;
    if (!rows) return `<p>${lines.map(escaped).join('<br>')}</p>`;
    const cells = rows.map(
      ([term, value]) => `<tr><th scope="row">${escaped(term)}</th><td>${escaped(value)}</td></tr>`,
    );
    return `<table>${cells.join('')}</table>`;
  });
  const heading =
    account === undefined
      ? ''
      : `<h1>${escaped(account)} <span class="aside">${say(texts.through)}</span></h1>`;
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><style>${STYLE}</style></head>
<body><main>${heading}${parts.join('\n')}<p class="aside">${escaped(say(texts.sentBy, { host: new URL(base).host }))}</p></main></body>
</html>
`;
}
