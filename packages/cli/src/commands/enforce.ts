import { dataIn } from '../api/fields.ts';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { CHECKING } from '../manifests/commands-check.ts';
import { COMPARING } from '../manifests/commands-compare.ts';
import { PINNING } from '../manifests/commands-pin.ts';
import { WRITING } from '../manifests/commands-write.ts';
import { manifestFiles, readManifest } from '../manifests/files.ts';
import { type CommandSpec, type Given, isSet, textOf, textsOf } from '../program/spec.ts';
import { TOKEN_OPTIONS, tokenOf } from '../secrets.ts';
import { emptyMeter } from '../system/meter.ts';

export const MANIFEST: readonly CommandSpec[] = [...CHECKING, ...WRITING, ...PINNING, ...COMPARING];

export const ENFORCE: readonly CommandSpec[] = [
  {
    name: 'enforce test',
    summary: 'Say whether a call would be allowed, and charge nothing',
    notes:
      'With --manifest it is decided here; without, the service decides with its registry. Ends with 0 for allow and 1 for deny.',
    args: [{ name: 'token', about: 'the grant token', isOptional: true }],
    examples: [
      'behest enforce test --env GRANT_TOKEN --connector crm --tool lookup --manifest manifests/crm.yaml',
    ],
    options: [
      { flags: '--connector <name>', about: 'the connector of the tool', isRequired: true },
      { flags: '--tool <name>', about: 'the tool', isRequired: true },
      { flags: '--amount <n>', about: 'the amount of the call' },
      { flags: '--case <id>', about: 'the case of the call' },
      { flags: '--resource <name>', about: 'the thing acted on' },
      { flags: '--arguments <file>', about: 'the arguments of the call: JSON or YAML' },
      { flags: '--manifest <path>', about: 'a manifest, or a folder of them', isMany: true },
      {
        flags: '--allow-sandbox',
        about: 'take sandbox tokens, with --manifest; a sandbox key does so by itself',
      },
      ...TOKEN_OPTIONS,
    ],
    run: test,
  },
];

async function test(context: Context, given: Given): Promise<number> {
  const grantToken = await tokenOf(context, given, given.args[0]);
  const [amount, caseId, resource, file] = ['amount', 'case', 'resource', 'arguments'].map((name) =>
    textOf(given, name),
  );
  if (amount !== undefined && !/^\d+(\.\d+)?$/.test(amount))
    throw wrongUsage(`--amount has to be a number, and is "${amount}".`, context.help);
  const call = {
    ...{
      grantToken,
      connector: textOf(given, 'connector') ?? '',
      tool: textOf(given, 'tool') ?? '',
      reserve: false,
    },
    ...(amount !== undefined && { amount }),
    ...(caseId !== undefined && { caseId }),
    ...(resource !== undefined && { resource }),
    arguments: file === undefined ? {} : await dataIn(context, file),
  };
  const manifests = textsOf(given, 'manifest');
  const result: object =
    manifests.length > 0
      ? await decideHere(context, given, manifests, call)
      : await (await context.client()).enforcement.enforce(call);
  const { allowed, reason, reason_code: code, sub_reason: sub, details } = Object(result);
  const isTable = context.globals.output === 'table';
  await context.one(
    isTable
      ? { verdict: allowed ? 'allow' : 'deny', reason, reasonCode: code, subReason: sub, details }
      : result,
  );
  if (sub === 'unknown_connector' && manifests.length === 0)
    context.note(
      `try: --manifest <path>, to decide with a manifest of yours, or behest manifests put ${call.connector} -f <file>, to register it`,
    );
  return allowed ? EXIT.done : EXIT.no;
}

type Call = Parameters<Awaited<ReturnType<Context['client']>>['enforce']>[0];

/** Decides in this process, with the manifests of these files and counters that begin empty. */
async function decideHere(
  context: Context,
  given: Given,
  paths: readonly string[],
  call: Call,
): Promise<object> {
  const { url, apiKey, profile } = await context.settings();
  const { Behest } = await import('@behest/sdk/enforce');
  const files = manifestFiles(context, paths);
  const manifests = await Promise.all(files.map((each) => readManifest(context, each)));
  const behest = new Behest({
    ...{
      baseUrl: url,
      apiKey: apiKey ?? null,
      manifests,
      meter: await emptyMeter(),
      fetch: context.exchange.fetchWith(apiKey),
    },
    ...(apiKey === undefined && profile.developerId !== undefined && { developerId: profile.developerId }),
    // All tokens of a sandbox account are sandbox tokens.
    allowSandbox: isSet(given, 'allowSandbox') || apiKey?.startsWith('bh_test_') === true,
  });
  return behest.enforce(call);
}
