import { BODY_OPTION, membersOf, optionsOf } from '../api/fields.ts';
import { rowOf } from '../api/specs.ts';
import { findVerifier, forgetVerifier } from '../config/verifiers.ts';
import type { CommandSpec } from '../program/spec.ts';

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
];

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
