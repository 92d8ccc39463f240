import { SECTIONS } from './groups.ts';

const WIDTH = 18;

/** The help of the program, which fits a screen. */
export function rootHelp(): string {
  const sections = SECTIONS.map(({ name: section, groups }) => {
    const main = groups.filter(({ isMain }) => isMain);
    const others = groups.filter(({ isMain }) => !isMain).map(({ name }) => name);
    return [
      section,
      ...main.map(({ name, summary }) => `  ${name.padEnd(WIDTH)}${summary}`),
      ...(others.length > 0 ? [`  also: ${others.join(', ')}`] : []),
    ].join('\n');
  });
  return `behest: authorize software agents\n\nUsage: behest <command> [options]\n\n${sections.join('\n')}\n
Options of every command: --json, -o table|json|ndjson|yaml|id, --profile, --url, --dry-run, -y, -q, -v
More: behest <command> --help, behest help options|auth|exit-codes|environment|manifests\n`;
}
