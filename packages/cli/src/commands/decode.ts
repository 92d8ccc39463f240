import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';
import type { CommandSpec, Given } from '../program/spec.ts';
import { TOKEN_OPTIONS, tokenOf } from '../secrets.ts';

const command = (name: string): CommandSpec => ({
  name,
  summary: 'Show what a token says, without verifying it',
  args: [{ name: 'token', about: 'a token, or an SD-JWT with its disclosures', isOptional: true }],
  examples: [`behest ${name} --file token.txt`, `pbpaste | behest ${name} --stdin --json`],
  options: TOKEN_OPTIONS,
  run: decode,
});

export const DECODE: readonly CommandSpec[] = [command('decode')];
export const INSPECT: readonly CommandSpec[] = [command('token inspect')];

async function decode(context: Context, given: Given): Promise<void> {
  const { header, payload, disclosures } = partsOf(await tokenOf(context, given, given.args[0]));
  if (!header || !payload) {
    throw new CliError(
      'MALFORMED',
      'This is no token: a token has three parts of base64url with dots between them.',
      { exitCode: EXIT.no },
    );
  }
  context.note('Nothing was verified: anybody can write such a token. behest verify checks it.');
  if (context.globals.output !== 'table')
    return context.one({ header, payload, ...(disclosures && { disclosures }) });
  await context.one({ ...header, ...withTimes(payload) });
  for (const disclosure of disclosures ?? []) context.line(`disclosed  ${JSON.stringify(disclosure)}`);
}

interface Parts {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly disclosures?: readonly unknown[];
}

/** Reads a token, or an SD-JWT, whose disclosures follow with tildes between them. */
export function partsOf(token: string): Parts {
  const [jwt = '', ...more] = token.split('~');
  const [header, payload, signature] = jwt.split('.');
  if (header === undefined || payload === undefined || signature === undefined) return {};
  const [first, second] = [valueIn(header), valueIn(payload)];
  const disclosures = more.filter((each) => each !== '' && !each.includes('.')).map(valueIn);
  return {
    ...(isRecord(first) && { header: first }),
    ...(isRecord(second) && { payload: second }),
    ...(more.length > 0 && { disclosures }),
  };
}

function valueIn(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined; // the caller says what is malformed
  }
}

/** Times as people read them. JSON has them as they were signed. */
const withTimes = (claims: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(claims).map(([name, value]) => [
      name,
      ['iat', 'exp', 'nbf'].includes(name) && typeof value === 'number'
        ? new Date(value * 1_000).toISOString()
        : value,
    ]),
  );
