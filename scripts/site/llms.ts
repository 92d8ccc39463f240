/** A page as `llms.txt` names it. */
export interface Told {
  readonly place: string;
  readonly title: string;
  /** The first sentence of the page. */
  readonly about: string;
}

/** @throws Error for a page without a title */
export function toldOf(place: string, text: string): Told {
  const [, title] = /^# (.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`${place} has no title.`);
  const [, paragraph = ''] = /^# .+\n+((?:(?![#|`<>-]).+\n?)*)/m.exec(text) ?? [];
  const [sentence = ''] = plain(paragraph).match(/^.*?[.:](?=\s|$)/) ?? [];
  return { place, title: plain(title), about: sentence.replace(/:$/, '.') };
}

const plain = (text: string) =>
  text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** @see https://llmstxt.org */
export function llmsText(groups: Readonly<Record<string, readonly Told[]>>): string {
  const sections = Object.entries(groups).map(([group, pages]) => {
    const lines = pages.map(({ place, title, about }) => `- [${title}](${place})${about && `: ${about}`}`);
    return `## ${group}\n\n${lines.join('\n')}\n`;
  });
  return `# Behest\n\n> ${SUMMARY}\n\n${NOTES}\n\n${sections.join('\n')}`;
}

const SUMMARY =
  'Behest is an authorization service for AI agents that act on behalf of people. An agent asks for scopes, the person decides, and the agent gets a signed grant token that a resource verifies offline.';
const NOTES =
  'Every page is Markdown at the address of its `.md`. The API is described in [openapi.json](openapi.json).';
