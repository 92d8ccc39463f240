import { Command, type CommanderError, Option } from 'commander';
import { GLOBAL_OPTIONS } from './globals.ts';
import type { CommandSpec, Given, OptionSpec } from './spec.ts';

/** The command that was chosen, with what it was given. */
export interface Chosen {
  readonly spec: CommandSpec;
  readonly given: Given;
  /** Names of the command's own options, which hide options of the program. */
  readonly own: readonly string[];
}

interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Makes the parser of some commands. It prints help itself, and throws for all that it cannot read. */
export function parserOf(
  specs: readonly CommandSpec[],
  streams: Streams,
  choose: (chosen: Chosen) => void,
): Command {
  const root = new Command('behest');
  settle(root, streams);
  for (const spec of specs) {
    const command = commandAt(root, spec.name.split(' '), streams);
    command.summary(spec.summary).description([spec.summary, spec.notes].filter(Boolean).join('\n\n'));
    for (const { name, about, isOptional, isMany } of spec.args ?? []) {
      const shown = `${name}${isMany ? '...' : ''}`;
      command.argument(isOptional ? `[${shown}]` : `<${shown}>`, about);
    }
    const own = (spec.options ?? []).map(optionOf);
    for (const option of own) command.addOption(option);
    const taken = new Set(own.flatMap(({ long, short }) => [long, short]));
    for (const option of GLOBAL_OPTIONS) {
      const [, short, long = ''] = /^(?:(-\w), )?(--[\w-]+)/.exec(option.flags) ?? [];
      const isShortTaken = short !== undefined && taken.has(short);
      const flags = isShortTaken ? option.flags.slice(`${short}, `.length) : option.flags;
      if (!taken.has(long)) command.addOption(optionOf({ ...option, flags }).hideHelp());
    }
    command.allowExcessArguments(false);
    command.addHelpText('after', helpEnd(spec));
    command.action(() =>
      choose({
        spec,
        given: { args: command.args, options: command.opts() },
        own: own.map((each) => each.attributeName()),
      }),
    );
  }
  return root;
}

const helpEnd = ({ examples }: CommandSpec) =>
  `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}\n\nOptions of every command: behest help`;

function optionOf({ flags, about, isRequired, isMany, choices, default: value }: OptionSpec): Option {
  const option = new Option(flags, about);
  if (isRequired) option.makeOptionMandatory();
  if (choices) option.choices(choices);
  if (isMany) option.argParser((text: string, all: string[] = []) => [...all, text]);
  if (value !== undefined) option.default(value);
  return option;
}

/** Finds a command by its words, and makes those above it. */
function commandAt(root: Command, words: readonly string[], streams: Streams): Command {
  let command = root;
  for (const word of words) {
    const known = command.commands.find((each) => each.name() === word);
    if (known) command = known;
    else {
      const made = settle(new Command(word), streams);
      command.addCommand(made);
      command = made;
    }
  }
  return command;
}

/** Makes a command throw where it would end the process, and say its faults where we can add to them. */
export function settle(command: Command, { out }: Streams): Command {
  return command
    .exitOverride()
    .enablePositionalOptions() // or `me` would take the options of `me update`
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .configureHelp({ showGlobalOptions: false, helpWidth: 110 })
    .configureOutput({ writeOut: out, writeErr: () => {}, outputError: () => {} });
}

/** The sentence of a fault: `unknown option '--scope'. Did you mean --scopes?`. */
export function faultOf({ message }: CommanderError): string {
  const [first = '', hint = ''] = message.replace(/^error: /, '').split('\n');
  const [, option] = /^required option '(?:-\w, )?(--[\w-]+)/.exec(first) ?? [];
  if (option !== undefined) return `${option} is missing.`;
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1).replace(/\.$/, '')}.`;
  return hint ? `${sentence} ${hint.replace(/^\((.*)\)$/, '$1')}` : sentence;
}
