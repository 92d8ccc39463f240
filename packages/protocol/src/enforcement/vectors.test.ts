import { expect, test } from 'vitest';
import {
  enforceMembers,
  type Kind,
  runCase,
  runEnforce,
  setupOf,
  type VectorCase,
  vectorsOf,
} from '../../test/enforce-case.ts';
import { PlainMeter } from '../../test/plain-meter.ts';
import { createEnforcer } from './enforcer.ts';
import { exposeTools } from './expose-tools.ts';

const kinds: Record<string, Kind> = {
  enforce: { members: enforceMembers, run: runEnforce },
  enforce_old: {
    members: enforceMembers,
    run: (vector, vectors) => runEnforce(unknownKeys(vector), unknownKeys(vectors)),
  },
  tools_list: {
    members: ['manifest', 'claims', 'tools', 'resource', 'connector'],
    async run({ tools, resource, connector, expect: expected, ...vector }, vectors) {
      const setup = setupOf(vector, vectors, new PlainMeter(() => 0));
      const manifest =
        typeof vector.manifest === 'string' ? vectors.manifests[vector.manifest] : vector.manifest;
      const offered: { readonly name: string }[] = Array.isArray(tools) ? tools : [];
      const listed = await createEnforcer(setup).listTools({
        grantToken: 'token',
        connector: String(connector ?? Object(manifest).connector),
        tools: offered,
        resource: resource === true,
      });
      const hidden = listed.hidden.map(({ tool, reason_code, sub_reason }) => [
        tool,
        [reason_code, sub_reason],
      ]);
      expect({ tools: listed.tools.map(({ name }) => name), hidden: Object.fromEntries(hidden) }).toEqual(
        expected,
      );
    },
  },
  expose: {
    members: ['connectors'],
    run({ connectors, expect: expected }) {
      const { exposed, hidden } = exposeTools(Array.isArray(connectors) ? connectors : []);
      expect({ exposed: Object.fromEntries(exposed), hidden }).toEqual(expected);
    },
  },
};

/** Stands for an engine from before argument rules: it knows neither key, so here both have names nobody knows. */
function unknownKeys<Value>(value: Value): Value {
  const text = JSON.stringify(value, (name, member) => {
    if (name === 'call' || typeof member !== 'object' || member === null || Array.isArray(member))
      return member;
    const { arguments: rules, mcp_pins: pins, ...others } = member;
    return {
      ...others,
      ...(rules !== undefined && { later_rules: rules }),
      ...(pins && { later_pins: pins }),
    };
  });
  return JSON.parse(text);
}

for (const name of ['enforcement', 'argument'] as const) {
  const vectors = vectorsOf(name);
  const cases: VectorCase[] = vectors.cases.filter(({ kind }) => kind in kinds);

  test.each(cases.map((vector) => [`${vector.id} ${vector.title}`, vector] as const))(
    `${name}: %s`,
    async (_, vector) => {
      await runCase(kinds, vector, vectors);
    },
  );
}
