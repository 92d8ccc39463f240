import { expect, test } from 'vitest';
import { configurationPage } from './configuration-page.ts';

const PORT = { accepts: 'a number', fallback: '`1`', meaning: 'The port.' };
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
| Variable | Accepted | Default | Meaning |
|---|---|---|---|
| \`PORT\` | a number | \`1\` | The port. |
<!-- end -->
By hand.

<!-- features -->

### Vases

| Variable | Accepted | Default | Meaning |
|---|---|---|---|
| \`VASES\` | a number | \`1\` | The port. |

<!-- end features -->
`);
});

test('a group that the page lacks, or names in vain, is refused', () => {
  expect(() => configurationPage(page, {}, {})).toThrow('server');
  expect(() => configurationPage(page, { server: {}, mail: {} }, {})).toThrow('mail');
});
