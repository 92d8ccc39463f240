import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, textOf } from '../program/spec.ts';
import { VERSION } from '../version.ts';

export const TEMPLATES = ['express', 'fastify', 'mcp', 'agent', 'manifest-only'] as const;
/** Beside the sources, and beside the files of the package. */
const FOLDER = join(import.meta.dirname, '../../templates');

export const INIT: readonly CommandSpec[] = [
  {
    name: 'init',
    isLocal: true,
    summary: 'Write an example that runs, with its test',
    notes: 'It overwrites no file without --force, and installs nothing without --install.',
    args: [{ name: 'dir', about: 'the folder; default: this one', isOptional: true }],
    examples: [
      'behest init my-api --yes',
      'behest init my-api --template fastify --packages ../behest/dist --install',
      'behest init --template manifest-only',
    ],
    options: [
      { flags: '--template <name>', about: 'the kind of example; with --yes: express', choices: TEMPLATES },
      { flags: '--force', about: 'overwrite files that are there' },
      {
        flags: '--packages <folder>',
        about:
          'the folder to which `npm run generate -- packages` of a checkout has written the SDK, until it is on npm',
      },
      { flags: '--install', about: 'run npm install afterwards' },
    ],
    run: init,
  },
];

async function init(context: Context, given: Given): Promise<void> {
  const target = given.args[0] ?? '.';
  const folder = resolve(context.io.folder, target);
  const template = textOf(given, 'template') ?? (await askedTemplate(context));
  const source = join(FOLDER, template);
  const { url } = await context.settings();
  // npm leaves files whose names begin with a dot out of packages, or reads them itself.
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    statSync(join(source, file)).isFile(),
  );
  const writes = files.map((file) => ({
    from: join(source, file),
    to: join(folder, file.replace(/(^|\/)dot-/, '$1.')),
  }));
  const project = join(folder, 'behest.json');
  const there = [...writes.map(({ to }) => to), project].filter((file) => existsSync(file));
  if (there.length > 0 && !isSet(given, 'force')) {
    throw wrongUsage(
      `${there.map((file) => relative(context.io.folder, file)).join(', ')} ${there.length === 1 ? 'is' : 'are'} there already: --force overwrites.`,
      context.help,
    );
  }
  for (const { from, to } of writes) {
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, readFileSync(from, 'utf8').replaceAll('http://localhost:3001', url));
    context.line(relative(context.io.folder, to));
  }
  writeFileSync(project, `${JSON.stringify({ url, manifests: ['manifests'] }, undefined, 2)}\n`);
  context.line(relative(context.io.folder, project));
  const packages = textOf(given, 'packages');
  if (packages !== undefined) dependOnPacked(context, folder, resolve(context.io.folder, packages));
  if (isSet(given, 'install')) install(folder);
  const enter = target === '.' ? '' : `cd ${target} && `;
  context.note(
    template === 'manifest-only'
      ? `next: ${enter}behest manifest check · behest manifest test manifests/calendar.cases.yaml`
      : `next: ${enter}npm install · npm test`,
  );
  if (template !== 'manifest-only' && packages === undefined)
    context.note(
      'The SDK is not on npm yet: run `npm run generate -- packages` in a checkout of Behest, and repeat with --packages <its dist folder>.',
    );
}

/** Makes the example install the tarballs in place of the names, which npm does not know yet. */
function dependOnPacked({ help }: Context, folder: string, packages: string): void {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return;
  const tarballs = ['protocol', 'sdk'].map((name) => join(packages, `behest-${name}-${VERSION}.tgz`));
  const missing = tarballs.find((tarball) => !existsSync(tarball));
  if (missing !== undefined)
    throw wrongUsage(
      `${missing} is not there: \`npm run generate -- packages\` in the checkout writes it.`,
      help,
    );
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const [protocol, sdk] = tarballs.map((tarball) => `file:${relative(folder, tarball)}`);
  const dependencies = { ...manifest.dependencies, '@behest/protocol': protocol, '@behest/sdk': sdk };
  writeFileSync(file, `${JSON.stringify({ ...manifest, dependencies }, undefined, 2)}\n`);
}

async function askedTemplate(context: Context): Promise<string> {
  const { io, globals } = context;
  if (globals.isSure) return TEMPLATES[0];
  if (!io.isTerminal.input || !globals.mayAsk)
    throw wrongUsage(`--template is missing: ${TEMPLATES.join(', ')}.`, context.help);
  const answer = (await io.ask(`template (${TEMPLATES.join(', ')}): `)).trim();
  if (TEMPLATES.some((each) => each === answer)) return answer;
  throw wrongUsage(`There is no template "${answer}": ${TEMPLATES.join(', ')}.`, context.help);
}

function install(folder: string): void {
  const { status } = spawnSync('npm', ['install'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0)
    throw new CliError('INSTALL', 'npm install failed.', { exitCode: EXIT.unavailable, next: 'npm install' });
}
