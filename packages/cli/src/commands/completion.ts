import type { Listed } from '../context.ts';
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
