import type { Description } from '../sdk/operations.ts';

/** Reads the text of `openapi.json` as programs that look at single operations need it. */
// The service writes the description, so its shape is known.
export const readDescription = (text: string) => resolved(JSON.parse(text)) as Description;

/**
 * A description with each reference replaced by what it refers to, and each refusal as one object. Programs that look at
 * single operations read it.
 */
export function resolved(description: { readonly components: object }): object {
  const { components, ...rest } = description;
  const { securitySchemes }: { securitySchemes?: object } = components;
  const whole = Object(withoutReferences(rest, { ...description }));
  return { ...whole, components: { securitySchemes } };
}

function withoutReferences(value: unknown, root: object): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutReferences(each, root));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, allOf }: { $ref?: unknown; allOf?: readonly unknown[] } = value;
  if (typeof $ref === 'string') return withoutReferences(targetOf($ref, root), root);
  if (allOf) return merged(allOf.map((each) => Object(withoutReferences(each, root))));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withoutReferences(each, root)]),
  );
}

function targetOf(reference: string, root: object): unknown {
  const found = reference
    .split('/')
    .slice(1)
    .reduce<unknown>((place, name) => Object(place)[name], root);
  if (found === undefined) throw new Error(`${reference} refers to nothing.`);
  return found;
}

/** `Error`, with the codes and details of one refusal. */
function merged([whole, own]: readonly { readonly properties?: Readonly<Record<string, object>> }[]): object {
  const members = Object.entries(whole?.properties ?? {}).map(([name, member]) => {
    const { enum: codes, ...more } = Object(own?.properties?.[name]);
    return [name, { ...member, ...more, ...(codes && { enum: codes }) }];
  });
  return { ...whole, properties: Object.fromEntries(members) };
}
