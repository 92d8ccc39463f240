import { expect, test } from 'vitest';
import { type Kind, runCase, vectorsOf } from '../../test/enforce-case.ts';
import { canonicalJson } from '../canonical-json.ts';
import { actionHash, boundArguments } from '../enforcement/action.ts';
import { matchesPurpose } from '../purpose-patterns.ts';
import { isPurpose } from '../purposes.ts';
import { manifestFromObject } from './load.ts';
import { ManifestValidationError } from './manifest-error.ts';
import { manifestFromJsonText } from './texts.ts';
import { pinOfTool } from './tool-pins.ts';
import { manifestFromYamlText } from './yaml-text.ts';

const kinds: Record<string, Kind> = {
  manifest: {
    members: ['manifest', 'text', 'syntax'],
    run(vector) {
      expect(loaded(vector)).toEqual({ warnings: [], ...Object(vector.expect) });
    },
  },
  purpose: {
    members: ['pattern', 'purpose'],
    run({ pattern, purpose, expect: expected }) {
      const matches = matchesPurpose(String(pattern), String(purpose));
      expect({ matches, known: isPurpose(String(purpose)) }).toEqual(expected);
    },
  },
  action: {
    members: ['action'],
    async run({ action, expect: expected }) {
      const canonical = canonicalJson(Object(action));
      expect({ canonical, hash: await actionHash(Object(action)) }).toEqual(expected);
    },
  },
  bound: {
    members: ['arguments', 'binds'],
    run({ arguments: args, binds, expect: expected }) {
      const pointers = Array.isArray(binds) ? binds.map(String) : [];
      const bound = boundArguments(Object(args), pointers);
      expect(canonicalJson({ arguments: bound })).toBe(canonicalJson(Object(expected)));
      expect(canonicalJson(boundArguments(bound, pointers))).toBe(canonicalJson(bound));
    },
  },
  pin: {
    members: ['definition'],
    async run({ definition, expect: expected }) {
      expect({ pin: await pinOfTool(Object(definition)) }).toEqual(expected);
    },
  },
};

function loaded({ text, syntax, manifest }: { readonly [member: string]: unknown }) {
  try {
    const from = syntax === 'yaml' ? manifestFromYamlText : manifestFromJsonText;
    const { warnings } = text === undefined ? manifestFromObject(manifest) : from(String(text));
    return { ok: true, warnings: warnings.map(({ code }) => code) };
  } catch (error) {
    if (!(error instanceof ManifestValidationError)) throw error;
    return { ok: false, code: error.code, path: error.path, warnings: [] };
  }
}

for (const name of ['enforcement', 'argument'] as const) {
  const vectors = vectorsOf(name);
  const cases = vectors.cases.filter(({ kind }) => kind in kinds);

  test.each(cases.map((vector) => [`${vector.id} ${vector.title}`, vector] as const))(
    `${name}: %s`,
    async (_, vector) => {
      await runCase(kinds, vector, vectors);
    },
  );
}
