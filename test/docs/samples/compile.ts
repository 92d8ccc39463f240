import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** The faults that the compiler finds in samples, a line for each. */
export function sampleFaults(root: string, samples: readonly Block[]): string[] {
  const named = new Map(
    samples.map((sample, index) => [join(import.meta.dirname, `sample-${index}.virtual.ts`), sample]),
  );
  const texts = new Map([...named].map(([path, { code }]) => [path, moduleOf(code)]));
  return compilerFaults(root, texts).map(({ path, message }) => {
    const sample = named.get(path);
    return `${sample ? nameOf(sample) : path}: ${message}`;
  });
}

/** A fault of a module, at a line that is counted from 0. */
interface CompilerFault {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/**
 * The faults that the compiler finds in modules that are in no file.
 *
 * @param texts by the path from which a module imports
 */
export function compilerFaults(root: string, texts: ReadonlyMap<string, string>): CompilerFault[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8'));
  const { options } = ts.convertCompilerOptionsFromJson(config.config.compilerOptions, root);
  const checked: ts.CompilerOptions = { ...options, noUnusedLocals: false, noUnusedParameters: false };
  const host = ts.createCompilerHost(checked);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.getSourceFile = (path, version, ...rest) => {
    const text = texts.get(path);
    return text === undefined
      ? getSourceFile(path, version, ...rest)
      : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([...texts.keys()], checked, host);
  return [...texts.keys()].flatMap((path) => {
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ messageText, start = 0 }) => ({
      path,
      line: source?.getLineAndCharacterOfPosition(start).line ?? 0,
      message: ts.flattenDiagnosticMessageText(messageText, ' '),
    }));
  });
}

/** A piece of code in a document. */
export interface Block {
  readonly page: string;
  /** From 1, among the blocks of its page. */
  readonly number: number;
  readonly language: string;
  readonly code: string;
}

const PAGES = ['*.md', 'docs/**/*.md', '{scripts,packages,clients,examples}/*/README.md', 'deploy/**/*.md'];
const BLOCK = /^```(\w+)\n(.*?)^```$/gms;

/** The code of every document that a reader may copy. */
export function samplesOf(root: string): Block[] {
  return globSync(PAGES, { cwd: root })
    .sort()
    .flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(BLOCK)].map(
        ([, language = '', code = ''], index) => ({
          ...{ page, language, code },
          number: index + 1,
        }),
      ),
    );
}

export const nameOf = ({ page, number }: Block) => `${page} #${number}`;

/** Where the names come from that samples use and do not declare, as the text around a sample says. */
const MODULES: Readonly<Record<string, string>> = {
  '@behest/sdk': 'Behest BehestApiError BehestNotFoundError',
  '@behest/sdk/verify': 'createVerifier',
  '@behest/sdk/enforce': 'postgresMeter redisMeter',
  '@behest/sdk/mcp': 'withToolEnforcement',
  '@modelcontextprotocol/sdk/server/stdio.js': 'StdioServerTransport',
  jose: 'SignJWT',
  'node:fs/promises': 'readFile',
  '../../../docs/guides/examples/acting-agents.ts': 'actingAgents',
  '../../../docs/guides/examples/ask-before-paying.ts': 'payOnceApproved',
  '../../../docs/guides/examples/check-chain.ts': 'checkChain keepsCheckpoint',
  '../../../docs/guides/examples/check-pack.ts': 'checkArchive checkPack',
  '../../../docs/guides/examples/connect-hint.ts': 'connectReturn',
  '../../../docs/guides/examples/follow-events.ts': 'follow',
  '../../../docs/guides/examples/proxied-call.ts': 'callThroughVault',
  '../../../docs/guides/examples/receive-webhooks.ts': 'receiver',
  '../../../docs/guides/examples/upstream-call.ts': 'callUpstream',
  '../../../docs/guides/examples/verify-credential.ts': 'credentialVerifier',
  '../../../docs/guides/examples/verify-offline.ts': 'offlineVerifier',
  '../../../examples/express-api/app.ts': 'calendarApi',
  '../../../examples/mcp-server/server.ts': 'notesOverHttp',
  '../../../examples/payments-agent/agent.ts': 'paymentTool',
  '../../../examples/webhook-receiver/receiver.ts': 'webhookReceiver',
};

/** Values of the reader's own program. */
const VALUES: Readonly<Record<string, string>> = {
  agent: '{ agentId: string }',
  agentId: 'string',
  alert: '() => void',
  apiKey: 'string',
  baseUrl: 'string',
  behest: "import('@behest/sdk').Behest",
  checkpoint: 'never',
  claims: 'never',
  client:
    "import('@behest/sdk').Behest & Parameters<typeof import('@behest/sdk/enforce').redisMeter>[0]['client']",
  credential: 'never',
  currentToken: '() => string',
  developerId: 'string',
  EPOCH: 'string',
  events: 'Map<string, unknown>',
  forgetTokensOf: '(grantId: unknown) => Promise<void>',
  grantId: 'string',
  grantToken: 'string',
  handle: '(event: unknown) => void',
  id: 'string',
  jwks: 'never',
  jwksUri: 'string',
  keep: '(id: string) => Promise<void>',
  lastEventId: 'string',
  limits: "Pick<Parameters<import('@behest/sdk').Behest['authorize']>[0], 'scopes' | 'authorizationDetails'>",
  log: '(...parts: unknown[]) => void',
  manifests: 'never',
  meter: 'never',
  pay: 'never',
  payment: 'never',
  pkce: "Awaited<ReturnType<typeof import('@behest/sdk').generatePkce>>",
  pool: 'never',
  privateKey: 'never',
  request: '{ url: string }',
  send: '(url: string) => void',
  secret: 'string',
  server: "import('@modelcontextprotocol/sdk/server/mcp.js').McpServer",
  show: '(id: string) => void',
  signal: 'AbortSignal',
  signedInUser: '{ id: string }',
  tell: '(text: string) => void',
  statement: 'string',
  token: 'string',
  transfer: 'never',
  url: 'string',
};

const OWN_IMPORT = /^import .*\n/gm;

/** A sample as a module: what surrounds it, then itself in a function, where it may declare a name again. */
function moduleOf(code: string): string {
  const own = code.match(OWN_IMPORT) ?? [];
  const body = code.replaceAll(OWN_IMPORT, '').replaceAll(/^export /gm, '');
  const isUsed = (name: string) =>
    new RegExp(`(?<![.\\w'])${name}\\b`).test(body) &&
    !own.some((line) => new RegExp(`\\b${name}\\b`).test(line));
  const imports = Object.entries(MODULES).flatMap(([module, names]) => {
    const used = names.split(' ').filter(isUsed);
    return used.length > 0 ? [`import { ${used.join(', ')} } from '${module}';`] : [];
  });
  const values = Object.entries(VALUES)
    .filter(([name]) => isUsed(name))
    .map(([name, type]) => `declare const ${name}: ${type};`);
  return [...own, ...imports, ...values, `export async function sample() {\n${body}\n}`].join('\n');
}
