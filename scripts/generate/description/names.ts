import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['apps/server/src/**/*.ts', 'packages/protocol/src/**/*.ts'];
const NO_SCHEMAS = /\.(test|samples|thread)\.ts$|\/(main|process-io)\.ts$/;

/** Finds the name of a schema: that of the exported constant which holds it. */
export type NameOf = (schema: object) => string | undefined;

/** Looks at every exported schema of the service and of the protocol. */
export async function schemaNames(root: string): Promise<NameOf> {
  const bySchema = new Map<object, string>();
  const byText = new Map<string, string>();
  for (const file of SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root })).sort()) {
    if (NO_SCHEMAS.test(file) || !readFileSync(join(root, file), 'utf8').includes("'typebox'")) continue;
    const exported: Readonly<Record<string, unknown>> = await import(join(root, file));
    for (const [name, value] of Object.entries(exported)) {
      if (typeof value !== 'object' || value === null || !('~kind' in value) || !isWorthAName(value))
        continue;
      if (!bySchema.has(value)) bySchema.set(value, name);
      const text = JSON.stringify(value);
      byText.set(text, byText.get(text) ?? name);
    }
  }
  // An optional member has a copy of its schema.
  return (schema) =>
    isWorthAName(schema) ? (bySchema.get(schema) ?? byText.get(JSON.stringify(schema))) : undefined;
}

interface Shape {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: object;
  readonly items?: object;
  readonly anyOf?: readonly object[];
}

/** Objects, lists of objects, choices and closed sets. A text or a number is described where it is used. */
function isWorthAName(schema: object): boolean {
  const { type, enum: values = [], properties = {}, items, anyOf }: Shape = schema;
  if (anyOf) return anyOf.some(isWorthAName);
  if (type === 'array') return items !== undefined && isWorthAName(items);
  return values.length > 1 || (type === 'object' && Object.keys(properties).length > 0);
}
