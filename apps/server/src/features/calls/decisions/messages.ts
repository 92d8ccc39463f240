import { type Action, argumentParts } from '@behest/protocol/enforcement/action';
import { wantedLanguages } from '@behest/protocol/words';
import type { Executor } from '../../../platform/db/db.ts';
import { escapeSlack, nameInMail, valueInMail } from '../../accounts/emails/index.ts';
import { approvalWords } from '../../grants/manifests/index.ts';
import { findCurrentTools, findPinnedTools } from '../../grants/manifests/manifests.queries.ts';
import type { DecisionRow } from './decisions.repo.ts';
import type { Decision, DecisionForApprover } from './decisions.schema.ts';
// @ts-expect-error A script of the page has its types in comments, which the check of the pages reads.
import * as page from './page/approve-rows.js';

/** Why people hear of a request. */
export type Occasion = 'requested' | 'first_approval' | 'reminder' | 'ended';

/** The money of a call, as the page has it in its headline. */
export interface Money {
  readonly amount: string;
  readonly currency: string;
  readonly receiver: string | undefined;
}

/** The facts that a notice tells. Of the arguments it has only the headline, and never the agent's own words. */
export interface NoticeFacts {
  readonly occasion: Occasion;
  readonly status: string;
  readonly developerName: string;
  readonly developerId: string;
  readonly agentName: string;
  readonly agentId: string;
  readonly connector: string;
  readonly tool: string;
  /** The tool in the words of the manifest. */
  readonly title: string | null;
  readonly money: Money | undefined;
  readonly caseId: string | null;
  readonly expiresAt: Date;
  readonly url: string;
}

const TITLES: Readonly<Record<Occasion, string>> = {
  requested: 'An agent waits for your decision',
  first_approval: 'One person approved; a second one has to decide',
  reminder: 'An agent still waits for your decision',
  ended: 'You need not decide',
};

const ENDS: Readonly<Record<string, string>> = {
  approved: 'The call was approved.',
  denied: 'The call was denied.',
  cancelled: 'The request was taken back.',
  superseded: 'The case changed, so the request ended.',
  expired: 'Nobody decided in time, so the call was not approved.',
};

const plain = (text: string) => nameInMail(text, '–');

/** What the page says first: the money, or else who asks for what. */
function headlineOf({ agentName, agentId, tool, title, money }: NoticeFacts): string {
  if (!money) {
    const named = title === null ? plain(tool) : `“${plain(title)}”`;
    return `${nameInMail(agentName, agentId)} asks to use ${named}`;
  }
  const sum = `${money.amount} ${money.currency}`;
  if (money.receiver === undefined) return sum;
  const receiver = valueInMail(money.receiver);
  return receiver === undefined ? `${sum} (the page shows to whom)` : `${sum} to ${receiver}`;
}

const subjectOf = (notice: NoticeFacts) => `${TITLES[notice.occasion]}: ${headlineOf(notice)}`;

type Fact = readonly [term: string, value: string];

const factsOf = ({
  developerName,
  developerId,
  agentName,
  agentId,
  connector,
  tool,
  caseId,
  expiresAt,
}: NoticeFacts): Fact[] => [
  ['Account', nameInMail(developerName, developerId)],
  ['Agent', nameInMail(agentName, agentId)],
  ['Call', `${plain(tool)} of ${plain(connector)}`],
  ...(caseId === null ? [] : [['Case', plain(caseId)] as const]),
  ['Ends', expiresAt.toISOString()],
];

export function mailOf(notice: NoticeFacts): { readonly subject: string; readonly text: string } {
  const { occasion, status, url } = notice;
  const lead =
    occasion === 'ended'
      ? (ENDS[status] ?? '')
      : `Open the page and sign in with your passkey. The link alone decides nothing.\n\n    ${url}`;
  const facts = factsOf(notice)
    .map(([term, value]) => `${term}: ${value}`)
    .join('\n');
  // An agent chooses its name, so the headline begins no paragraph: as `Account: …` it would look like a fact.
  const text = `${TITLES[occasion]}.\n${headlineOf(notice)}\n\n${lead}\n\n${facts}\n`;
  return { subject: subjectOf(notice), text };
}

/** Calls of which people hear at once. */
export interface Flood {
  /** The calls that still wait. */
  readonly waiting: number;
  /** The page that lists them. */
  readonly url: string;
}

const floodTitle = ({ waiting }: Flood) => {
  if (waiting === 0) return 'The calls that waited need no decision now';
  return waiting === 1
    ? '1 more call waits for your decision'
    : `${waiting} more calls wait for your decision`;
};

/** Notices that a digest shows in full. */
const MAX_SHOWN = 50;

/** One mail in place of several. A single notice stays as it is. */
export function digestOf(
  notices: readonly { readonly subject: string; readonly body: string }[],
  flood: Flood,
): { readonly subject: string; readonly text: string } {
  const [only, ...others] = notices;
  if (only && others.length === 0) return { subject: only.subject, text: only.body };
  const shown = notices.slice(0, MAX_SHOWN).map(({ body }) => body.trim());
  const more = notices.length - shown.length;
  const title = floodTitle(flood);
  return {
    subject: title,
    text: `${title}. There were so many notices that these come in one mail. The page lists every call that waits:

    ${flood.url}

${shown.join('\n\n– – –\n\n')}
${more > 0 ? `\nThere are ${more} more.\n` : ''}`,
  };
}

/** The body of a message, in the shape that the channel takes. */
export function messageOf(kind: 'slack' | 'teams', notice: NoticeFacts): string {
  const { occasion, status, url } = notice;
  const facts = factsOf(notice);
  if (occasion === 'ended') return cardOf(kind, [subjectOf(notice), ENDS[status] ?? ''], facts);
  return cardOf(kind, [subjectOf(notice)], facts, { title: 'Decide', url });
}

/** One message in place of several. */
export const floodMessageOf = (kind: 'slack' | 'teams', flood: Flood): string =>
  cardOf(kind, [floodTitle(flood)], [], { title: 'Open the list', url: flood.url });

/** A browser shows about so much of a line, and a push server takes 4096 bytes. */
const MAX_LINE = 200;

/** What a browser notifies of: a title, the headline, and the page of the call. */
export const pushOf = (notice: NoticeFacts): string =>
  pushed(TITLES[notice.occasion], headlineOf(notice), notice.url);

export const floodPushOf = (flood: Flood): string => pushed(floodTitle(flood), '', flood.url);

function pushed(title: string, headline: string, url: string): string {
  const characters = [...headline];
  const body = characters.length > MAX_LINE ? `${characters.slice(0, MAX_LINE - 1).join('')}…` : headline;
  return JSON.stringify({ title, body, url });
}

/**
 * Texts that others chose are in elements that read no markup: `plain_text` of Slack, and `TextRun` of Adaptive Cards, where a
 * `TextBlock` or a `Fact` would read Markdown. The link opens the page, and nothing in a message decides.
 */
function cardOf(
  kind: 'slack' | 'teams',
  lines: readonly string[],
  facts: readonly Fact[],
  link?: { readonly title: string; readonly url: string },
): string {
  const [title = ''] = lines;
  if (kind === 'slack') {
    const section = (text: readonly string[]) => ({
      type: 'section',
      text: { type: 'plain_text', text: escapeSlack(text.join('\n')), emoji: false },
    });
    const blocks = [
      section(lines),
      ...(facts.length > 0 ? [section(facts.map(([term, value]) => `${term}: ${value}`))] : []),
      ...(link ? [{ type: 'section', text: { type: 'mrkdwn', text: `<${link.url}|${link.title}>` } }] : []),
    ];
    return JSON.stringify({ text: escapeSlack(title), mrkdwn: false, blocks });
  }
  const run = (text: string, weight?: 'Bolder') => ({ type: 'TextRun', text, ...(weight && { weight }) });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      ...lines.map((line) => ({ type: 'RichTextBlock', inlines: [run(line, 'Bolder')] })),
      ...facts.map(([term, value]) => ({
        type: 'RichTextBlock',
        inlines: [run(`${term}: `, 'Bolder'), run(value)],
      })),
    ],
    ...(link && { actions: [{ type: 'Action.OpenUrl', ...link }] }),
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', content };
  return JSON.stringify({ type: 'message', attachments: [attachment] });
}

/** The arguments as they were given, whole, also where the action has a part of them. */
export const argumentsOf = ({ action, given }: DecisionRow): Decision['arguments'] =>
  given === null ? JSON.parse(action).arguments : JSON.parse(given);

/** What the page says first of a call: the title of its tool, and its money where it has some. */
export async function headlineParts(
  db: Executor,
  row: DecisionRow,
): Promise<{ readonly title: string | null; readonly money: Money | undefined }> {
  const { words, parts } = await inWords(db, row, undefined);
  return { title: words.title, money: page.headlineOf(argumentsOf(row), parts) };
}

/** The words and the binding of the manifest that the action names, or of the one that there is now. */
export async function inWords(
  db: Executor,
  row: DecisionRow,
  languages: string | undefined,
): Promise<Pick<DecisionForApprover, 'words' | 'parts'>> {
  const { connector, tool } = row;
  const { manifest: sha256 }: Action = JSON.parse(row.action);
  const tools =
    sha256 === undefined
      ? await findCurrentTools(db, row, [connector])
      : await findPinnedTools(db, row, [{ connector, sha256, version: '' }]);
  const declared = tools.get(connector)?.get(tool);
  return {
    words: approvalWords(declared, wantedLanguages(languages)),
    parts: argumentParts({ ...argumentsOf(row) }, sha256 === undefined ? undefined : (declared?.binds ?? [])),
  };
}
