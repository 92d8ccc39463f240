import { escapeSlack, nameInMail } from '../../accounts/emails/index.ts';

/** Why people hear of a request. */
export type Occasion = 'requested' | 'first_approval' | 'reminder' | 'ended';

/** The facts that a notice tells: never an argument, an amount or the agent's own words. */
export interface NoticeFacts {
  readonly occasion: Occasion;
  readonly status: string;
  readonly developerName: string;
  readonly developerId: string;
  readonly agentName: string;
  readonly agentId: string;
  readonly connector: string;
  readonly tool: string;
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
  denied: 'The call was refused.',
  cancelled: 'The request was taken back.',
  superseded: 'The case changed, so the request ended.',
  expired: 'Nobody decided in time, so the call was not approved.',
};

const plain = (text: string) => nameInMail(text, '–');

const rowsOf = ({
  developerName,
  developerId,
  agentName,
  agentId,
  connector,
  tool,
  caseId,
  expiresAt,
}: NoticeFacts) => [
  ['Account', nameInMail(developerName, developerId)],
  ['Agent', nameInMail(agentName, agentId)],
  ['Call', `${plain(tool)} of ${plain(connector)}`],
  ...(caseId === null ? [] : [['Case', plain(caseId)]]),
  ['Ends', expiresAt.toISOString()],
];

export function mailOf(notice: NoticeFacts): { readonly subject: string; readonly text: string } {
  const { occasion, status, url } = notice;
  const lead =
    occasion === 'ended'
      ? (ENDS[status] ?? '')
      : `Open the page and sign in with your passkey. The link alone decides nothing.\n\n    ${url}`;
  const facts = rowsOf(notice)
    .map(([term, value]) => `${term}: ${value}`)
    .join('\n');
  return { subject: TITLES[occasion], text: `${TITLES[occasion]}.\n\n${lead}\n\n${facts}\n` };
}

/** Notices that a digest shows in full. */
const MAX_SHOWN = 50;

/** One mail in place of several. A single notice stays as it is. */
export function digestOf(notices: readonly { readonly subject: string; readonly body: string }[]) {
  const [only, ...others] = notices;
  if (only && others.length === 0) return { subject: only.subject, text: only.body };
  const shown = notices.slice(0, MAX_SHOWN).map(({ body }) => body.trim());
  const more = notices.length - shown.length;
  return {
    subject: `${notices.length} notices about calls of agents`,
    text: `There were so many notices within an hour that these come in one mail.

${shown.join('\n\n– – –\n\n')}
${more > 0 ? `\nThere are ${more} more. The page of decisions lists every call that waits.\n` : ''}`,
  };
}

/** The body of a message, in the shape that the channel takes. */
export function messageOf(kind: 'slack' | 'teams', notice: NoticeFacts): string {
  const { occasion, status, url } = notice;
  const title = TITLES[occasion];
  const end = occasion === 'ended' ? (ENDS[status] ?? '') : '';
  const facts = rowsOf(notice);
  if (kind === 'slack') {
    const lines = facts.map(([term, value]) => `*${term}*: ${escapeSlack(String(value))}`);
    const text = [
      `*${title}.* ${end}`.trim(),
      ...lines,
      ...(occasion === 'ended' ? [] : [`<${url}|Decide>`]),
    ].join('\n');
    return JSON.stringify({ text: title, blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }] });
  }
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      { type: 'TextBlock', text: `${title}. ${end}`.trim(), weight: 'Bolder', wrap: true },
      { type: 'FactSet', facts: facts.map(([term, value]) => ({ title: term, value })) },
    ],
    ...(occasion !== 'ended' && { actions: [{ type: 'Action.OpenUrl', title: 'Decide', url }] }),
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', content };
  return JSON.stringify({ type: 'message', attachments: [attachment] });
}
