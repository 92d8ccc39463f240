import { expect, test } from 'vitest';
import { allSettings } from '../../apps/server/src/config.ts';
import { configurationPage, exampleOf } from './configuration-page.ts';

const PORT = { accepts: 'an integer between 1 and 9', fallback: '`1`', meaning: 'The port.' };
const page = `# Settings

<!-- settings: server -->
| old |
<!-- end -->
By hand.

<!-- features -->
old
<!-- end features -->
`;

test('tables are written from the code, and what stands around them stays', () => {
  const written = configurationPage(page, { server: { PORT } }, { vases: { VASES: PORT }, none: {} });

  expect(written).toBe(`# Settings

<!-- settings: server -->
| Variable | Accepted | Default | Example | Meaning |
|---|---|---|---|---|
| \`PORT\` | an integer between 1 and 9 | \`1\` | \`PORT=8080\` | The port. |
<!-- end -->
By hand.

<!-- features -->

### Vases

| Variable | Accepted | Default | Example | Meaning |
|---|---|---|---|---|
| \`VASES\` | an integer between 1 and 9 | \`1\` | \`VASES=2\` | The port. |

<!-- end features -->
`);
});

test('a group that the page lacks, or names in vain, is refused', () => {
  expect(() => configurationPage(page, {}, {})).toThrow('server');
  expect(() => configurationPage(page, { server: {}, mail: {} }, {})).toThrow('mail');
});

test('the service takes every example, in production or, where it refuses that, in development', () => {
  const settings = Object.entries(allSettings).filter(([, { meaning }]) => meaning !== '');
  const refused = settings.filter(([name, setting]) => {
    const [variable = '', ...value] = exampleOf(name, setting).split('=');
    if (variable.endsWith('_FILE')) return variable !== `${name}_FILE`;
    const takes = (isProduction: boolean) => {
      try {
        return setting.read(value.join('='), { name, isProduction }) !== undefined;
      } catch {
        return false;
      }
    };
    return !takes(true) && !takes(false);
  });

  expect(settings.length).toBeGreaterThan(150);
  expect(refused.map(([name, setting]) => exampleOf(name, setting))).toEqual([]);
  expect(() => exampleOf('VASES', { accepts: 'a colour', fallback: 'none' })).toThrow('VASES has no example');
});
