import { resolve } from 'node:path';
import { BODY_OPTION, membersOf, optionsOf } from '../api/fields.ts';
import { rowOf } from '../api/specs.ts';
import { readText } from '../config/settings.ts';
import { findVerifier, forgetVerifier } from '../config/verifiers.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../errors.ts';
import { type CommandSpec, type Given, textOf } from '../program/spec.ts';
import { keysIn } from './verify.ts';

const FIELDS = rowOf('tokens.exchange').body ?? [];

export const TOKENS: readonly CommandSpec[] = [
  {
    name: 'tokens exchange',
    summary: 'Exchange a code for tokens',
    operation: 'tokens.exchange',
    notes: 'The verifier that `authorize --pkce` kept is sent by itself.',
    examples: ['behest tokens exchange --agent <id> --code <code>'],
    options: [...FIELDS.flatMap(optionsOf), BODY_OPTION],
    async run(context, given) {
      const wanted = await membersOf(context, given, FIELDS, true);
      const [agentId, code] = [String(wanted.agentId), String(wanted.code)];
      const codeVerifier = wanted.codeVerifier ?? findVerifier(context.io, agentId);
      const client = await context.client();
      const tokens = await client.tokens.exchange({
        ...{ ...wanted, agentId, code },
        ...(codeVerifier !== undefined && { codeVerifier: String(codeVerifier) }),
      });
      forgetVerifier(context.io, agentId);
      await context.one(tokens);
    },
  },
];

export const DID: readonly CommandSpec[] = [
  {
    name: 'did get',
    summary: 'Resolve a DID',
    operation: 'dids.resolve',
    args: [{ name: 'did', about: 'such as did:web:auth.example.com' }],
    examples: ['behest did get did:web:auth.example.com'],
    run: async (context, { args: [did = ''] }) =>
      context.one(await (await context.openClient()).dids.resolve(did)),
  },
];

const ID = [{ name: 'id', about: 'the id of the agent' }];

export const AGENTS: readonly CommandSpec[] = [
  {
    name: 'agents suspend',
    summary: 'Suspend an agent: its tokens are refused until it is reactivated',
    args: ID,
    examples: ['behest agents suspend <id>'],
    run: async (context, { args: [id = ''] }) =>
      context.one(await (await context.client()).agents.suspend(id)),
  },
  {
    name: 'agents reactivate',
    summary: 'Let a suspended agent work again',
    args: ID,
    examples: ['behest agents reactivate <id>'],
    run: async (context, { args: [id = ''] }) =>
      context.one(await (await context.client()).agents.reactivate(id)),
  },
];

export const GRANTS: readonly CommandSpec[] = [
  {
    name: 'grants tree',
    summary: 'Draw the grants that were delegated from a grant',
    args: [{ name: 'id', about: 'the id of the grant' }],
    examples: ['behest grants tree <id>', 'behest grants tree <id> --json'],
    async run(context, { args: [id = ''] }) {
      const client = await context.client();
      const top = await client.grants.get(id);
      const all: Node[] = [top];
      const root = top.rootGrantId ?? top.grantId;
      for await (const grant of client.grants.list({ rootGrantId: root, limit: 500 }))
        if (grant.grantId !== id) all.push(grant);
      const lines = branchesOf(id, all, '');
      if (context.globals.output !== 'table') {
        const below = new Set(lines.map(({ grant }) => grant));
        return context.rows([top, ...all.filter((grant) => below.has(grant))]);
      }
      context.line(labelOf(top));
      for (const { text } of lines) context.line(text);
    },
  },
  {
    name: 'grants check-statement',
    summary: 'Check a statement about a revocation offline, with the published keys',
    notes: 'Ends with 0 for a genuine statement, whoever has confirmed, and 1 for any other.',
    args: [
      {
        name: 'file',
        about: 'the answer of `grants revoke --wait confirmed`, or its statement; - for the input',
      },
    ],
    examples: [
      'behest grants check-statement statement.json',
      'behest grants check-statement statement.json --jwks-file jwks.json --issuer https://auth.example.com',
    ],
    options: [
      { flags: '--jwks-file <file>', about: 'read the keys from a file, without a network' },
      { flags: '--issuer <url>', about: 'the issuer that the statement has to name' },
    ],
    run: checkStatement,
  },
];

async function checkStatement(context: Context, given: Given): Promise<number> {
  const [name = ''] = given.args;
  const text = name === '-' ? await context.io.input() : readText(resolve(context.io.folder, name));
  const service = (await context.settings()).url.replace(/\/$/, '');
  const [file, issuer = service] = [textOf(given, 'jwksFile'), textOf(given, 'issuer')];
  const jwks = file === undefined ? await publishedKeys(context, service) : keysIn(context, file);
  const { verifyRevocationStatement } = await import('@behest/sdk/receipts');
  const checked = await verifyRevocationStatement(statementIn(text), { jwks, issuer });
  if (!checked.ok) {
    await context.one(checked);
    return EXIT.no;
  }
  const { claims, issuedAt } = checked;
  const verifiers = claims.verifiers.map(({ verifierId, name, state, at }) => ({
    verifierId,
    name,
    state,
    at,
  }));
  await context.one({ ok: true, issuedAt: issuedAt.toISOString(), ...claims, verifiers });
  return EXIT.done;
}

async function publishedKeys(context: Context, service: string): Promise<unknown> {
  const answer = await context.exchange.fetchWith(undefined)(`${service}/.well-known/jwks.json`, {});
  return answer.json();
}

/** The answer of the service has the statement as a member. */
function statementIn(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return trimmed;
  try {
    return String(JSON.parse(trimmed).statement);
  } catch {
    return trimmed; // which is no statement, as the check then says
  }
}

interface Node {
  readonly grantId: string;
  readonly parentGrantId?: string | null;
  readonly agentId: string;
  readonly status: string;
  readonly scopes: readonly string[];
}

const labelOf = ({ grantId, agentId, status, scopes }: Node) =>
  `${grantId}  ${agentId}  ${status}  ${scopes.join(',')}`;

function branchesOf(
  parent: string,
  all: readonly Node[],
  lead: string,
): { readonly grant: Node; readonly text: string }[] {
  const children = all.filter(({ parentGrantId }) => parentGrantId === parent);
  return children.flatMap((grant, at) => {
    const isLast = at === children.length - 1;
    const text = `${lead}${isLast ? '└─ ' : '├─ '}${labelOf(grant)}`;
    return [{ grant, text }, ...branchesOf(grant.grantId, all, `${lead}${isLast ? '   ' : '│  '}`)];
  });
}
