import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blocksOf } from '../../test/docs/steps.ts';
import { buildSite } from './build.ts';
import { CONTENTS, LISTED_ELSEWHERE, llmsText, summaryOf } from './contents.ts';
import { siteFiles } from './sources.ts';

const ROOT = join(import.meta.dirname, '../..');
const files = await siteFiles(ROOT);
const named = Object.values(CONTENTS).flat();

describe('the menu', () => {
  test('has every page of the documents once, but for those of a list of their own', () => {
    const pages = globSync('**/*.md', { cwd: join(ROOT, 'docs') }).map((page) => page.replace(/\.md$/, ''));
    const isListed = (page: string) =>
      LISTED_ELSEWHERE.some((folder) => page.startsWith(folder)) && !named.includes(page);
    const made = (page: string) => /^(api|sdk)\/|^cli$/.test(page); // by the build

    expect(new Set(named).size).toBe(named.length);
    expect(named.filter((page) => !made(page)).sort()).toEqual(
      pages.filter((page) => !isListed(page)).sort(),
    );
  });

  test('leads to a page for each tag of the API, which the list names', () => {
    const { tags, paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
    const operations = Object.values<object>(paths).flatMap((verbs) => Object.values(verbs));
    const used = tags.filter(({ name }: { name: string }) =>
      operations.some(({ tags: own }) => own.includes(name)),
    );
    const ofApi = files.filter(({ place }) => place.startsWith('api/'));
    const list = ofApi.find(({ place }) => place === 'api/index.md')?.text;
    const pages = ofApi.filter(({ place }) => place !== 'api/index.md');

    expect(pages).toHaveLength(used.length);
    expect(pages.filter(({ place }) => !list?.includes(`(${place.slice('api/'.length)})`))).toEqual([]);
    const headings = pages.flatMap(({ text }) => text?.match(/^## /gm) ?? []);
    expect(headings).toHaveLength(operations.length);
  });
});

describe('the files of the site', () => {
  test('are in places of their own, whatever a file system makes of capitals', () => {
    const places = files.map(({ place }) => place.toLowerCase());

    expect(places.length).toBeGreaterThan(150);
    expect(new Set(places).size).toBe(places.length);
  });

  test('link to one another where the site has them', () => {
    const page = files.find(({ source }) => source === 'docs/performance.md');

    expect(page).toMatchObject({ place: 'performance.md' });
    expect(page?.text).toContain('](project/scripts/bench/RESULTS.md)');
    expect(files.find(({ source }) => source === 'scripts/bench/RESULTS.md')?.place).toBe(
      'project/scripts/bench/RESULTS.md',
    );
    expect(files.find(({ source }) => source === 'openapi.json')).toEqual({
      source: 'openapi.json',
      place: 'openapi.json',
    });
  });
});

test('no page holds a tag that the generator would look for the end of', () => {
  const tags = files.flatMap(({ source, text = '' }) => {
    const prose = text.replaceAll(/^```.*?^```/gms, '').replaceAll(/`[^`]*`/g, '');
    const found = prose.match(/(?<!\\)<(?!!--|\/?(?:a|img|br)\b)[a-z][^>]*>/gi) ?? [];
    return found.map((tag) => `${source}: ${tag}`);
  });

  expect(tags).toEqual([]);
});

test('the first page shows the lines that the guide runs', () => {
  expect(blocksOf('docs/index.md', 'ts')).toEqual(blocksOf('docs/guides/quickstart.md', 'ts').slice(0, 1));
});

test('llms.txt has the title and the first sentence of each page', () => {
  const told = summaryOf(
    'guides/a.md',
    '# Ask `a`\n\nIt asks [a person](b.md)\nfirst. Then more.\n\n## Next\n',
  );

  expect(told).toEqual({ place: 'guides/a.md', title: 'Ask `a`', about: 'It asks a person first.' });
  expect(summaryOf('b.md', '# B\n\n| A |\n|---|\n')).toMatchObject({ about: '' });
  expect(llmsText({ Start: [told] })).toMatch(
    /^# Behest\n\n> [^\n]+\n\n[^\n]+\n\n## Start\n\n- \[Ask `a`\]\(guides\/a\.md\): It asks a person first\.\n$/,
  );
  expect(() => summaryOf('c.md', 'No title.')).toThrow('c.md has no title');
});

test.each(['behest', '/behest', 'https://a.example/', '/a b/', '/a//b/'])(
  'the base %s is refused before anything is built',
  async (base) => {
    await expect(buildSite(ROOT, join(ROOT, 'dist/never'), base)).rejects.toThrow('between slashes');
  },
);
