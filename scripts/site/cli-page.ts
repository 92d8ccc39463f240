import { GLOBAL_OPTIONS } from '../../packages/cli/src/program/globals.ts';
import { allCommands, SECTIONS } from '../../packages/cli/src/program/groups.ts';
import type { OptionSpec } from '../../packages/cli/src/program/options.ts';
import type { CommandSpec } from '../../packages/cli/src/program/spec.ts';

const HEAD = `# Commands of behest

This page is made from the commands. The [README of the program](../packages/cli/README.md) has a
first walk.

## Options of every command
`;

/** The reference of the program. */
export async function cliPage(): Promise<string> {
  const commands = await allCommands();
  const sections = SECTIONS.map(({ name: section, groups }) => {
    const own = groups.flatMap((group) => commands.filter(({ name }) => name.split(' ')[0] === group.name));
    return `## ${section}\n\n${own.map(commandText).join('\n\n')}`;
  });
  return `${HEAD}\n${optionsText(GLOBAL_OPTIONS)}\n\n${sections.join('\n\n')}\n`;
}

function commandText({ name, summary, notes, args = [], options = [], examples }: CommandSpec): string {
  const usage = args.map(({ name: arg, isOptional, isMany }) => {
    const text = `${arg}${isMany ? '...' : ''}`;
    return isOptional ? ` [${text}]` : ` <${text}>`;
  });
  const parts = [
    `### \`behest ${name}${usage.join('')}\``,
    inProse(`${summary}.${notes ? ` ${notes}` : ''}`),
    ...(options.length > 0 ? [optionsText(options)] : []),
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
  ];
  return parts.join('\n\n');
}

const optionsText = (options: readonly OptionSpec[]) =>
  ['| Option | Meaning |', '|---|---|', ...options.map(optionLine)].join('\n');

function optionLine({ flags, about, isRequired, choices, default: value }: OptionSpec): string {
  const more = [
    isRequired ? 'required' : '',
    choices && !/true\|false/.test(flags) ? choices.map((each) => `\`${each}\``).join(', ') : '',
    value === undefined ? '' : `default \`${value}\``,
  ].filter(Boolean);
  return `| \`${escaped(flags)}\` | ${escaped(about)}${more.length > 0 ? `; ${more.join('; ')}` : ''} |`;
}

/** A text beside code, in which `<name>` is no tag. */
const inProse = (text: string) =>
  text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', String.raw`\<`)))
    .join('');

const escaped = (text: string) => text.replaceAll('|', String.raw`\|`);
