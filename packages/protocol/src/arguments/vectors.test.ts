import { expect, test } from 'vitest';
import { type Kind, runCase, vectorsOf } from '../../test/enforce-case.ts';
import { checkArguments } from './check.ts';
import { rulesInWords } from './in-words.ts';
import { ArgumentsError, readArguments } from './read-arguments.ts';
import { readRules } from './rule-reading.ts';
import type { Rules } from './rules.ts';
import { isWithin } from './within.ts';

const vectors = vectorsOf('argument');

const kinds: Record<string, Kind> = {
  rules: {
    members: ['rules'],
    run({ rules, expect: expected }) {
      const read = readRules(rules);
      expect(read.ok ? { ok: true } : { ok: false, ...read.fault }).toEqual(expected);
    },
  },
  arguments: {
    members: ['rules', 'arguments', 'text'],
    run(vector) {
      const { ok, subReason, ...rest } = { subReason: undefined, ...checked(vector) };
      const answer = { ok, ...(subReason && { sub_reason: subReason }), ...rest };
      expect(answer).toMatchObject(Object(vector.expect));
    },
  },
  within: {
    members: ['child', 'parent'],
    run({ child, parent, expect: expected }) {
      expect({ within: isWithin(rulesOrNone(child), rulesOrNone(parent)) }).toEqual(expected);
    },
  },
  words: {
    members: ['rules'],
    run({ rules, expect: expected }) {
      const { open, lines } = rulesInWords(rulesOf(rules));
      expect({ open, lines: lines.map(({ path, text }) => [path, text]) }).toEqual(expected);
    },
  },
};

function checked({ rules, ...vector }: { readonly [member: string]: unknown }) {
  try {
    const args = 'text' in vector ? readArguments(String(vector.text)) : vector.arguments;
    return checkArguments(rulesOf(rules), args);
  } catch (error) {
    if (!(error instanceof ArgumentsError)) throw error;
    return { ok: false, subReason: 'argument_unreadable', cause: error.cause } as const;
  }
}

function rulesOf(value: unknown): Rules {
  const read = readRules(value);
  if (!read.ok) throw new Error(`The rules are not readable: ${read.fault.code} at ${read.fault.path}`);
  return read.rules;
}

function rulesOrNone(value: unknown): Rules | undefined {
  return value === null ? undefined : rulesOf(value);
}

const cases = vectors.cases.filter(({ kind }) => kind in kinds);

test.each(cases.map((vector) => [`${vector.id} ${vector.title}`, vector] as const))(
  '%s',
  async (_, vector) => {
    await runCase(kinds, vector, vectors);
  },
);
