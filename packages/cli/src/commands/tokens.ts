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
