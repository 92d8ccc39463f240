import { Command, CommanderError } from 'commander';
import type { AllCommands, Io } from '../context.ts';
import { CliError } from '../errors.ts';
import { type Chosen, faultOf, parserOf, settle } from './build.ts';
import { GLOBAL_OPTIONS } from './globals.ts';
import { allCommands, commandsOf, GROUPS } from './groups.ts';

export interface Parsed {
  readonly chosen: Chosen;
  /** The options of the command, over those before it. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly commands: AllCommands;
}

/**
 * Reads the command line, and loads the commands of its first word alone.
 *
 * @returns undefined when help was asked for, and printed
 * @throws CliError for what it cannot read
 */
export async function parse(argv: readonly string[], io: Io): Promise<Parsed | undefined> {
  const streams = { out: io.out, err: io.err };
  let first: { readonly name: string; readonly rest: readonly string[] } | undefined;
  const root = settle(new Command('behest').enablePositionalOptions(), streams);
  for (const { flags, about } of GLOBAL_OPTIONS) root.option(flags, about);
  for (const { name, summary } of GROUPS) {
    const entry = settle(new Command(name).summary(summary), streams);
    entry.helpOption(false).allowUnknownOption().passThroughOptions().argument('[words...]');
    entry.action((rest: string[]) => {
      first = { name, rest };
    });
    root.addCommand(entry);
  }
  let command = '';
  try {
    await root.parseAsync(argv, { from: 'user' });
    const group = GROUPS.find(({ name }) => name === first?.name);
    if (!first || !group) throw new CliError('USAGE', 'A command is missing.', { next: 'behest --help' });
    command = group.name;
    let chosen: Chosen | undefined;
    const parser = parserOf(await commandsOf(group), streams, (each) => {
      chosen = each;
    });
    command = deepest(parser, [group.name, ...first.rest]);
    await parser.parseAsync([group.name, ...first.rest], { from: 'user' });
    if (!chosen)
      throw new CliError('USAGE', `${group.name} needs a command.`, { next: `behest ${command} --help` });
    return { chosen, options: { ...root.opts(), ...globalsIn(chosen) }, commands: allCommands };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return undefined;
    const isGroup = error.code === 'commander.help';
    const fault = isGroup ? `"${command}" needs one of its commands.` : faultOf(error);
    throw new CliError('USAGE', fault, { next: `behest ${command} --help`.replace('  ', ' ') });
  }
}

/** The program's options that stand behind the command, without defaults that would hide those before it. */
function globalsIn({ given: { options }, own }: Chosen): Readonly<Record<string, unknown>> {
  const isGiven = (name: string) =>
    !own.includes(name) && !(options[name] === true && (name === 'color' || name === 'input'));
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => isGiven(name) || (name === 'input' && value === false)),
  );
}

/** The words of the deepest command that a line names. */
function deepest(parser: Command, words: readonly string[]): string {
  const found: string[] = [];
  let at: Command | undefined = parser;
  for (const word of words) {
    at = at.commands.find((each) => each.name() === word);
    if (!at) break;
    found.push(word);
  }
  return found.join(' ');
}
