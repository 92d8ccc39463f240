import { warnOfOpenFile } from './config/user-file.ts';
import { type AllCommands, contextOf, type Io } from './context.ts';
import { CliError, EXIT, type Failure, failureOf, wrongUsage } from './errors.ts';
import { printable } from './output/table.ts';
import type { Chosen } from './program/build.ts';
import { type Globals, globalsOf } from './program/globals.ts';

/**
 * Runs the program.
 *
 * @param argv the words behind the name of the program
 * @returns the exit code
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  if (argv[0] === '--version') return showVersion(argv, io);
  const isHelp = argv.length === 0 || (argv.length === 1 && ['-h', '--help', 'help'].includes(argv[0] ?? ''));
  if (isHelp) {
    const { rootHelp } = await import('./program/help.ts');
    io.out(rootHelp());
    return argv.length === 0 ? EXIT.usage : EXIT.done;
  }
  // Faults that come before the options are read are told as these words ask.
  let look = { isJson: asksForJson(argv), command: '' };
  try {
    const { parse } = await import('./program/parse.ts');
    const parsed = await parse(argv, io);
    if (!parsed) return EXIT.done;
    const { chosen, options, commands } = parsed;
    const globals = globalsOf(options);
    look = { isJson: globals.output === 'json' || globals.output === 'ndjson', command: chosen.spec.name };
    return await run(chosen, io, globals, commands);
  } catch (error) {
    const failure = failureOf(io.signal.aborted ? io.signal.reason : error, look.command);
    tell(failure, io, look.isJson);
    return failure.exitCode;
  }
}

/** True for `--json`, `-o json`, `-o ndjson` and their longer spellings. */
const asksForJson = (argv: readonly string[]) =>
  / (?:--json|(?:-o[ =]?|--output[ =])(?:nd)?json) /.test(` ${argv.join(' ')} `);

async function run(
  { spec, given }: Chosen,
  io: Io,
  globals: Globals,
  commands: AllCommands,
): Promise<number> {
  if (globals.isQuiet && globals.isVerbose) throw wrongUsage('--quiet and --verbose exclude each other.');
  if (globals.isDry && spec.isLocal)
    throw wrongUsage(
      `behest ${spec.name} has no dry run: it changes this machine.`,
      `behest ${spec.name} --help`,
    );
  warnOfOpenFile(io);
  const context = contextOf(io, globals, {
    command: spec.name,
    commands,
    isDry: globals.isDry && !spec.readsInDryRun,
  });
  try {
    return (await spec.run(context, given)) ?? EXIT.done;
  } catch (error) {
    if (context.exchange.isDone()) return EXIT.done;
    throw error;
  }
}

function tell({ next, ...failure }: Failure, io: Io, isJson: boolean): void {
  if (isJson) {
    io.err(`${JSON.stringify({ error: failure })}\n`);
    return;
  }
  const { code, message, requestId, details = {} } = failure;
  const more = requestId ? ` (${code}, request ${requestId})` : code === 'USAGE' ? '' : ` (${code})`;
  io.err(`error: ${message}${more}\n`);
  for (const line of linesOf(details)) io.err(`  ${line}\n`);
  if (next) io.err(`try: ${next}\n`);
}

/** The members that are wrong, one a line, and all else that the service said. */
function linesOf({ fields, ...others }: Readonly<Record<string, unknown>>): string[] {
  const faults = Array.isArray(fields) ? fields : [];
  return [
    ...faults.map((fault: unknown) => `${Object(fault).path || 'the body'}: ${Object(fault).problem}`),
    ...Object.entries(others).map(
      ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ),
  ].map(printable);
}

async function showVersion(argv: readonly string[], io: Io): Promise<number> {
  const { VERSION } = await import('./version.ts');
  const versions = { cli: VERSION, sdk: VERSION, node: process.versions.node, protocol: '0.6' };
  const isJson = argv[1] === '--json' && argv.length === 2;
  if (argv.length > 1 && !isJson) {
    tell(
      failureOf(
        new CliError('USAGE', '--version takes --json and nothing else.', { next: 'behest --help' }),
        '',
      ),
      io,
      false,
    );
    return EXIT.usage;
  }
  io.out(isJson ? `${JSON.stringify(versions)}\n` : `behest ${VERSION}\n`);
  return EXIT.done;
}
