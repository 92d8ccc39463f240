import { inspect } from 'node:util';

export interface Narration {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly say: (line: string) => void;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Request {
  readonly body?: object;
  /** The members of the answer to print; the others would fill the screen. */
  readonly show?: readonly string[];
}

const LONGEST_SHOWN = 40; // characters; ids are shorter, secrets are longer
const SHOWN_OF_SECRETS = 12;

/** Makes calls, and prints each with its answer. */
export function callsTo({ baseUrl, apiKey, say }: Narration) {
  /** @throws when the answer is an error, with its text */
  return async (route: string, { body, show = [] }: Request = {}): Promise<Answer> => {
    const [method = '', path = ''] = route.split(' ');
    say(`   ${route}${body ? ` ${told(body)}` : ''}`);
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause: Error) => {
      throw new Error(`Nothing answers at ${baseUrl}; does \`npm start\` run?`, { cause });
    });
    const text = await response.text();
    const answer: Answer = { status: response.status, body: text ? JSON.parse(text) : {} };
    if (!response.ok)
      throw new Error(`${route} was answered ${answer.status}: ${textOf(answer.body, 'message')}`);
    say(`   ${answer.status}${show.length > 0 ? ` ${told(only(answer.body, show))}` : ''}`);
    return answer;
  };
}

export function textOf(members: Readonly<Record<string, unknown>>, name: string): string {
  const value = members[name];
  if (typeof value !== 'string') throw new Error(`There is no text \`${name}\` in ${inspect(members)}.`);
  return value;
}

function only(members: Readonly<Record<string, unknown>>, names: readonly string[]): object {
  return Object.fromEntries(names.filter((name) => name in members).map((name) => [name, members[name]]));
}

/** Prints on one line, and shortens codes, tokens and tickets to the part that differs. */
function told(members: object): string {
  return JSON.stringify(members, (_name, value) => (typeof value === 'string' ? shortened(value) : value));
}

function shortened(text: string): string {
  const [address = '', fragment] = text.split('#'); // the ticket of a consent page is its address's fragment
  if (fragment !== undefined) return `${address}#…`;
  return text.length > LONGEST_SHOWN ? `${text.slice(0, SHOWN_OF_SECRETS)}…` : text;
}
