import openapiTypescript, { astToString } from 'openapi-typescript';

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch']);

type Operation = { responses: Record<string, unknown>; security?: unknown };
type Description = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};

const REFUSAL = {
  description: 'A refusal',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

/**
 * The types of what the console may call: the operations below `/v1`, with their good answers. All refusals have the
 * one shape `Error`, which the console's client reads.
 */
export async function consoleTypes(description: string): Promise<string> {
  const whole: Description = JSON.parse(description);
  const paths = Object.fromEntries(
    Object.entries(whole.paths)
      .filter(([path]) => /^\/v1\/(?!admin\/)/.test(path))
      .map(([path, item]) => [path, Object.fromEntries(Object.entries(item).map(withoutRefusals))]),
  );
  const parts = await openapiTypescript(JSON.stringify({ ...whole, paths }), {
    alphabetize: true,
    silent: true,
  });
  return `// Made from openapi.json by \`npm run generate\`.\n${shortened(astToString(parts))}`;
}

/** The shape of a new policy, by which the console checks a draft while somebody types it. */
export function policyShape(description: string): string {
  const { components }: Description = JSON.parse(description);
  const shape = JSON.stringify(components.schemas.NewPolicy, null, 2);
  return `// Made from openapi.json by \`npm run generate\`.\nexport const newPolicy = ${shape} as const;\n`;
}

function withoutRefusals([name, operation]: [string, Operation]): [string, Operation] {
  if (!METHODS.has(name)) return [name, operation];
  const good = Object.entries(operation.responses).filter(([status]) => status < '400');
  return [name, { ...operation, responses: { ...Object.fromEntries(good), default: REFUSAL } }];
}

/** Without the members that say that something is absent: they are a third of the text. */
const shortened = (text: string) =>
  text.replaceAll(/^ +(?:header|cookie|trace|head|options)\?: never;\n/gm, '');
