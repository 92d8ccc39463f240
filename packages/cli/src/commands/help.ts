import type { Listed } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import { GLOBAL_OPTIONS } from '../program/globals.ts';
import type { CommandSpec } from '../program/spec.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

export const COMPLETION: readonly CommandSpec[] = SHELLS.map((shell) => ({
  name: `completion ${shell}`,
  summary: `Print a script that completes commands in ${shell}`,
  examples: [shell === 'fish' ? 'behest completion fish | source' : `source <(behest completion ${shell})`],
  run: async (context) => context.line(scriptOf(shell, wordsAfter(await context.commands()))),
}));

/** Every beginning of a command, with the words that may follow. */
function wordsAfter(commands: readonly Listed[]): ReadonlyMap<string, readonly string[]> {
  const after = new Map<string, Set<string>>();
  for (const { name, options = [] } of commands) {
    const words = name.split(' ');
    words.forEach((word, at) => {
      const start = words.slice(0, at).join(' ');
      after.set(start, (after.get(start) ?? new Set()).add(word));
    });
    const flags = options.flatMap(({ flags }) => flags.match(/--[\w-]+/g) ?? []);
    for (const flag of flags) after.set(name, (after.get(name) ?? new Set()).add(flag));
  }
  return new Map([...after].map(([start, words]) => [start, [...words].toSorted()]));
}

function scriptOf(shell: string, after: ReadonlyMap<string, readonly string[]>): string {
  if (shell === 'fish') return fishScript(after);
  const cases = [...after]
    .map(([start, words]) => `    '${start}') words='${words.join(' ')}' ;;`)
    .join('\n');
  const script = `_behest() {
  local i word start='' words=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ "$word" == -* ]] && continue
    start="\${start:+$start }$word"
  done
  case "$start" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _behest behest`;
  return shell === 'zsh'
    ? `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${script}`
    : script;
}

function fishScript(after: ReadonlyMap<string, readonly string[]>): string {
  const lines = [...after].map(
    ([start, words]) =>
      `complete -c behest -f -n 'test (string join " " (string match -v -- "-*" (commandline -opc)[2..])) = "${start}"' -a '${words.join(' ')}'`,
  );
  return lines.join('\n');
}

const TOPICS: Readonly<Record<string, string>> = {
  options: `Options of every command, before it or behind it:\n\n${GLOBAL_OPTIONS.map(({ flags, about }) => `  ${flags.padEnd(26)}${about}`).join('\n')}`,
  auth: `The program finds its key in this order:

  1. --api-key-file, --api-key-stdin, --api-key-env, or --profile
  2. BEHEST_API_KEY
  3. the current profile: behest config list

A key is never an argument of a command, because other users of the machine can see arguments.
behest config set --key - reads it from standard input and keeps it in a file for you alone.
A project's behest.json names an address and no key. A key of a profile goes to the address of that profile only.`,
  'exit-codes': `  0    done; where a command asks whether something is so (verify, introspect, enforce, check, doctor): yes
  1    the answer is no
  2    wrong usage: unknown option, missing argument, unreadable file
  3    not configured or not authenticated
  4    refused: 402, 403
  5    not found: 404
  6    conflict: 409
  7    rate limited: 429 after retries
  8    service or network failure
  9    invalid input according to the service: 400, 422
  130  interrupted; 143 terminated`,
  environment: `  BEHEST_URL       the address of the service
  BEHEST_API_KEY   the API key
  BEHEST_PROFILE   the profile of the configuration file
  BEHEST_CONFIG    the configuration file; default: $XDG_CONFIG_HOME/behest/config.json or ~/.behest/config.json
  NO_COLOR         output has no colour in any case`,
  manifests: `A manifest says which permission each tool of a connector needs, and what else a call has to fulfil.

  behest manifest infer <source>     proposes one from an MCP server, an OpenAPI file or a list of names
  behest manifest check              finds every fault, before a service or a program loads it
  behest manifest plan <old> <new>   says in words who gains and who loses
  behest manifest test <cases>       runs a table of calls through enforce()

Files are JSON or YAML. Without arguments, the paths are those of behest.json, else ./manifests.`,
};

export const HELP: readonly CommandSpec[] = [
  {
    name: 'help',
    summary: 'Explain a topic',
    args: [{ name: 'topic', about: Object.keys(TOPICS).join(', ') }],
    examples: ['behest help exit-codes'],
    async run(context, { args: [topic = ''] }) {
      const text = TOPICS[topic];
      if (text === undefined)
        throw wrongUsage(`There is no topic "${topic}": ${Object.keys(TOPICS).join(', ')}.`, 'behest --help');
      context.line(text);
    },
  },
];
